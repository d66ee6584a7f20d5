"""Trainings that are stopped and started again, for the tests of checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

from tdamp import Fitted
from tdamp.training import checkpoint, trainer


class Stopped(BaseException):
    """The process ends here."""


class Pieces(NamedTuple):
    """What came of a work in pieces."""

    result: Any
    starts: int
    epochs: int  # trained in all
    headers: list[dict[str, Any]]  # the words of each file written


def in_pieces(work: Callable[[], Any], writes: int) -> Pieces:
    """`work` is stopped after so many writes each time it is started, until it comes to its end."""
    epochs, headers = count(), []
    save, iterate = checkpoint.Stage.save, trainer.Trainer._em_iteration

    def counted(self: Any, epoch: int) -> Any:
        next(epochs)
        return iterate(self, epoch)

    for starts in range(1, 200):
        done = count(1)

        def stopping(self: Any, number: int, arrays: Any, words: Any, done: Any = done) -> None:
            save(self, number, arrays, words)
            headers.append(words)
            if next(done) >= writes:
                raise Stopped

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoint.Stage, "save", stopping)
            patch.setattr(trainer.Trainer, "_em_iteration", counted)
            try:
                return Pieces(work(), starts, next(epochs), headers)
            except Stopped:
                continue
    raise AssertionError("it never ended")


def same(a: Fitted, b: Fitted) -> None:
    """Every bit of the two, but for the seconds."""
    assert (a.network, a.outcome, a.epoch) == (b.network, b.outcome, b.epoch)
    assert jax.tree.structure((a.state, a.kept, a.calibration)) == jax.tree.structure((b.state, b.kept, b.calibration))
    leaves = (jax.tree.leaves((f.state, f.kept, f.calibration)) for f in (a, b))
    for ours, theirs in zip(*leaves, strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
    without = ([{k: v for k, v in record.items() if k != "seconds"} for record in f.history] for f in (a, b))
    np.testing.assert_equal(*without)  # NaN equals NaN
