"""The walk from `TDAMPRegressor.fit` to Algorithm 1: few frames, few files, and docs/architecture.md shows them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tdamp
from tdamp import TDAMPRegressor, algorithm
from tdamp.estimators import fitting
from tdamp.selection import cross_validation, refit
from tdamp.training.fit import TrainingJob

SOURCE = f"{Path(tdamp.__file__).parent}/"
PAGE = Path(__file__).parents[1] / "docs/architecture.md"
MOST_FRAMES = 8
MOST_FILES = 25
X = np.random.default_rng(0).normal(size=(60, 3))


class Arrived(Exception):
    """Algorithm 1 is reached: nothing of it is run."""


class Walk(NamedTuple):
    """From the first function of the package to `algorithm.em_iteration`, both included."""

    frames: list[str]  # those on the stack in the end, "file: function"
    files: list[str]  # all that were entered, in this order

    def between(self) -> list[str]:
        """The frames without the two ends."""
        return self.frames[1:-1]


def walk(work: Callable[[], Any]) -> Walk:
    """Profile some work in this thread until Algorithm 1 is reached."""
    frames: list[str] = []
    files: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCE) or code.co_name == "<module>":
            return
        files[code.co_filename.removeprefix(SOURCE)] = None
        if code is algorithm.em_iteration.__code__:
            sys.setprofile(None)
            frames.extend(reversed(stack(frame)))
            raise Arrived

    sys.setprofile(profile)
    try:
        with pytest.raises(Arrived):
            work()
    finally:
        sys.setprofile(None)
    return Walk(frames, list(files))


def stack(frame: FrameType | None) -> list[str]:
    """The package's functions that wait for this one, from within."""
    found = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(SOURCE):
            found.append(f"{code.co_filename.removeprefix(SOURCE)}: {code.co_qualname}")
        frame = frame.f_back
    return found


def regressor(**options: Any) -> TDAMPRegressor:
    """A small one."""
    return TDAMPRegressor((4,), max_epochs=2, random_state=0, **options)


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of compiled programs, which is made once in a process, is no part of the way."""
    monkeypatch.setattr(fitting, "FOLDER", ["there"])


def check(found: Walk) -> None:
    """Few frames between the ends, and few files."""
    assert len(found.between()) <= MOST_FRAMES, "\n".join(found.frames)
    assert len(found.files) - 2 <= MOST_FILES, "\n".join(found.files)


def test_without_held_out_rows() -> None:
    """contract: from fit to em_iteration; the page lists every frame and every file in the order they are entered."""
    model = regressor(early_stopping=False)
    found = walk(lambda: model.fit(X, X[:, 0]))
    check(found)
    page = PAGE.read_text()
    frames, files = (block.splitlines() for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL))
    assert [line.strip() for line in frames] == found.frames, "\n".join(found.frames)
    assert [line.split()[0] for line in files] == found.files, "\n".join(found.files)


def test_with_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the first training of a fit that holds rows out once."""
    monkeypatch.setattr(refit, "CROSS_VALIDATED_ROWS", 0)
    model = regressor(early_stopping=True)
    check(walk(lambda: model.fit(X, X[:, 0])))


def test_inside_a_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: folds are trained in threads; from the start of one, and the frames before it, they are as few."""
    jobs: list[TrainingJob] = []
    before: list[str] = []

    def instead(job: TrainingJob, *rest: Any) -> None:
        jobs.append(job)
        before.extend(stack(sys._getframe(1)))
        raise InterruptedError

    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(refit, "predict_folds", instead)
        regressor().fit(X, X[:, 0])

    class Here:
        """In place of the threads: the first fold in this one."""

        def __init__(self, _: int) -> None:
            pass

        def __enter__(self) -> Here:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        map = staticmethod(map)

    monkeypatch.setattr(cross_validation, "ThreadPoolExecutor", Here)
    (job,) = jobs
    found = walk(lambda: cross_validation.predict_folds(job, np.arange(60) % 5))
    assert found.frames[1].endswith("train_without")
    assert len(before) <= MOST_FRAMES and len(found.between()) <= MOST_FRAMES, "\n".join([*before[::-1], *found.frames])
