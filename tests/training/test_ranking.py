"""The rows by which a training ranks its groups, and both rankings."""

from __future__ import annotations

import jax
import numpy as np

from tdamp import Network, Settings
from tdamp.engine.ranking import group_losses
from tdamp.engine.state import evidence, init
from tdamp.training.data import Data
from tdamp.training.ranking import ROWS, Ranking

RNG = np.random.default_rng(0)
N = 3 * ROWS
X = RNG.normal(size=(N, 4)).astype(np.float32)
DATA = Data(X, X[:, :1] ** 2, (np.arange(N) % 3).astype(np.float32))
NETWORK, SETTINGS = Network((4, 5, 1)), Settings(keep=0.5, ranking="loss")
STATE = init(NETWORK, SETTINGS, RNG, X, DATA.y)


def test_rows_stand_for_all() -> None:
    """contract: other rows at every step, none of weight zero, and weights with the sum of all."""
    ranking = Ranking(SETTINGS, DATA, seed=3)
    columns = np.array([2, 0])
    first, again, second = (ranking.rows(columns, step) for step in (1, 1, 2))
    np.testing.assert_array_equal(first.x, again.x)
    assert first.x.shape == (ROWS, 2) and not np.array_equal(first.x, second.x)
    np.testing.assert_allclose(np.sum(first.weight), DATA.weight.sum(), rtol=1e-5)
    places = [int(np.flatnonzero((X[:, 2] == row[0]) & (X[:, 0] == row[1]))[0]) for row in np.asarray(first.x)[:50]]
    assert (DATA.weight[places] > 0).all()


def test_by_loss_and_by_evidence() -> None:
    """twin: `group_losses` of the rows drawn, and the evidence of the state."""
    groups = np.array([0, 0, 1, 2])
    ranking = Ranking(SETTINGS, DATA, seed=3)
    rows = jax.tree.map(jax.numpy.asarray, ranking.rows(np.arange(4), 5))
    expected = group_losses(NETWORK, STATE, rows, jax.numpy.asarray(groups))
    for ours, theirs in zip(ranking.by(NETWORK, np.arange(4), groups, 5)(STATE), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    by_evidence = Ranking(Settings(keep=0.5), DATA, seed=3).by(NETWORK, np.arange(4), groups, 5)
    for ours, theirs in zip(by_evidence(STATE), evidence(STATE, groups), strict=True):
        np.testing.assert_array_equal(ours, theirs)
