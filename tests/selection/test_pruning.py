"""What pruning costs by rows held out, on snapshots made by hand.

covers: training.pruning_loss
"""

from __future__ import annotations

import numpy as np
import pytest

from tdamp.engine.prune import progress
from tdamp.engine.settings import Settings
from tdamp.selection.held_out import HeldOut
from tdamp.selection.pruning import furthest, pruning_loss
from tdamp.selection.snapshots import Judged
from tdamp.training.data import Data
from tdamp.training.pruning_loss import PruningLoss

ROWS = 80
RNG = np.random.default_rng(0)
DATA = Data(RNG.normal(size=(ROWS, 2)), (np.arange(ROWS) % 2).astype(np.int32), np.ones(ROWS))
SETTINGS = Settings(max_epochs=10, keep=0.5, prune_start=0.2, prune_end=0.6)
EPOCHS = [1, 2, 3, 4, 5, 6, 8, 10]


def held(log_scores: list[np.ndarray], errors: list[np.ndarray]) -> HeldOut:
    """Rows held out, with these snapshots."""
    rows = HeldOut(DATA, DATA)
    for each in zip(log_scores, errors, strict=True):
        rows.add(Judged(*each), None)
    return rows


def test_the_loss_and_its_errors() -> None:
    """identity: paired differences against the best epoch with all units, and the standard error of their mean."""
    scores = [RNG.normal(-1, 0.2, ROWS) + level for level in (-0.5, 0.0, -0.1, -0.1, -0.1, -0.1, -0.1, -0.3)]
    wrong = [(RNG.uniform(size=ROWS) < 0.2).astype(float) for _ in EPOCHS]
    loss = pruning_loss(held(scores, wrong), EPOCHS, SETTINGS, 7)
    assert loss is not None and [progress(SETTINGS, epoch) for epoch in EPOCHS[:2]] == [0, 0]
    for lost, ours in ((scores[1] - scores[7], loss.log_score), (wrong[7] - wrong[1], loss.accuracy)):
        assert ours.mean == pytest.approx(lost.mean()) and ours.std_error == pytest.approx(lost.std() / np.sqrt(ROWS))
    assert loss.log_score_before == pytest.approx(scores[1].mean())
    assert loss.accuracy_after == pytest.approx(1 - wrong[7].mean())


@pytest.mark.parametrize(
    ("levels", "harmless", "seems"),
    [
        ((0.0, 0.0, -0.2, -0.2, -0.5, -0.6, -0.1, -0.1), 0, 4),  # epochs 3 and 4 are alike, but worse than 1 and 2
        ((0.0, 0.0, 0.0, 0.01, -0.5, 0.02, -0.1, -0.1), 4, 6),  # what comes after a loss is not sure
        ((0.0, 0.0, 0.1, 0.1, 0.1, 0.1, -0.3, -0.3), 6, 6),
    ],
)
def test_how_far_nothing_was_lost(levels: tuple[float, ...], harmless: int, seems: int) -> None:
    """contract: the epoch before the first on the way that surely loses against all units; a search begins at the last
    one that the best on the way does not surely beat."""
    base, none = RNG.normal(-1, 0.2, ROWS), np.zeros(ROWS)
    noise = [0.01 * RNG.normal(size=ROWS) for _ in levels]
    rows = held([base + level + each - each.mean() for level, each in zip(levels, noise, strict=True)], [none] * 8)
    loss = pruning_loss(rows, EPOCHS, SETTINGS, 7)
    assert loss is not None and loss.harmless == (progress(SETTINGS, harmless) if harmless else 0)
    assert furthest(rows, EPOCHS, SETTINGS) == progress(SETTINGS, seems)


def test_without_an_epoch_before() -> None:
    """contract: there is nothing to compare with."""
    assert pruning_loss(held([np.zeros(ROWS)], [np.zeros(ROWS)]), [10], SETTINGS, 0) is None


@pytest.mark.parametrize(
    ("lost", "error", "hurts"),
    [(0.06, 0.01, True), (0.06, 0.04, True), (0.06, 0.07, False), (0.009, 0.001, False), (-0.1, 0.01, False)],
)
def test_what_hurts(lost: float, error: float, hurts: bool) -> None:
    """contract: two standard errors, or one of a loss above two points; a little is no matter."""
    assert PruningLoss(-1.0, -1.0, 0.1, 0.8, 0.8 - lost, error, 1.0).hurts is hurts
    assert PruningLoss(-1.0, -1.0 - lost, error, 0.8, 0.8, 0.1, 1.0).hurts is (lost > max(2 * error, 0.05))
