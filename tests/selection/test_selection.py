"""How long to train, by the snapshots of a training that rows held out have judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tdamp.engine.prune import progress
from tdamp.engine.settings import Settings
from tdamp.selection.held_out import HeldOut
from tdamp.selection.selection import Selection, ended_after, selection_of
from tdamp.selection.snapshots import Judged
from tdamp.training.data import Data

ROWS = 20
DATA = Data(np.arange(2.0 * ROWS).reshape(ROWS, 2), (np.arange(ROWS) % 2).astype(np.int32), np.ones(ROWS))
PRUNED = Settings(max_epochs=10, keep=0.5, prune_start=0.2, prune_end=0.6)
LEVELS = {2: -0.2, 4: -0.1, 6: -0.6, 8: -0.3, 10: -0.4}
"""Mean log scores by epoch: the best is one at which units still go."""


def selection(settings: Settings, levels: dict[int, float]) -> Selection | None:
    """The selection by snapshots that score every row alike."""
    held = HeldOut(DATA, DATA)
    for level in levels.values():
        held.add(Judged(np.full(ROWS, level), np.zeros(ROWS)), None)
    return selection_of(held, levels, settings)


def test_the_best_epoch_with_the_units_that_remain() -> None:
    """contract: the epoch of the highest score, of those since the last unit went; of all, where none goes."""
    chosen = selection(PRUNED, LEVELS)
    late = {epoch: score for epoch, score in LEVELS.items() if progress(PRUNED, epoch) == 1}
    best = list(late)[int(np.argmax(list(late.values())))]
    assert chosen is not None and list(LEVELS)[chosen.chosen] == best and chosen.score() == late[best]
    whole = selection(replace(PRUNED, keep=None), LEVELS)
    assert whole is not None and list(LEVELS)[whole.chosen] == 4 and whole.pruning_loss() is None


def test_no_epoch_to_choose() -> None:
    """contract: a training that ended while units went."""
    assert selection(PRUNED, {2: -0.2, 4: -0.1}) is None


@pytest.mark.parametrize("epochs", [6, 7, 10])
def test_a_training_that_ends_sooner(epochs: int) -> None:
    """identity: units go at the same epochs as in the longer one."""
    shorter = ended_after(PRUNED, epochs)
    assert shorter.max_epochs == epochs
    for epoch in range(epochs + 1):
        assert progress(shorter, epoch) == pytest.approx(progress(PRUNED, epoch))
