"""Inputs that are left out at random while a network learns."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from helpers.one_epoch import em_step as step
from tdamp import TDAMPClassifier
from tdamp.engine.damp import drop_inputs
from tdamp.engine.network import Network
from tdamp.engine.plan import knobs_of, plan_of
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, init
from tdamp.training.batches import shuffle

NETWORK, ROWS = Network((30, 4, 1)), 200
SETTINGS = Settings(batch_size=50, input_dropout=0.2)
RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 1.0, size=(ROWS, 30))
Y = X[:, :1] + RNG.normal(size=(ROWS, 1))


def begun() -> State:
    """The start of a training on these rows."""
    return init(NETWORK, SETTINGS, np.random.default_rng(1), X, Y)


def dropped(epoch: int, minibatch: int) -> np.ndarray:
    """All rows with inputs left out, in the units of the data."""
    state = begun()
    centre = np.asarray(state.layers[0].centre)
    return (
        np.asarray(
            drop_inputs(knobs_of(SETTINGS, epoch, ROWS), state.layers[0].centre, X - centre, jnp.asarray(minibatch))
        )
        + centre
    )


def test_what_is_dropped() -> None:
    """identity: zero, or 1 / 0.8 times what it was; a fifth of all, within five standard errors; others next time."""
    found = dropped(3, 7)
    gone = np.abs(found) < 1e-9
    np.testing.assert_allclose(found[~gone], X[~gone] / 0.8, rtol=1e-9)
    assert abs(gone.mean() - 0.2) < 5 * np.sqrt(0.16 / X.size)
    np.testing.assert_array_equal(found, dropped(3, 7))
    for other in (dropped(4, 7), dropped(3, 8)):
        both = np.mean(gone & (np.abs(other) < 1e-9))
        assert abs(both - 0.04) < 5 * np.sqrt(0.04 * 0.96 / X.size)


def test_an_epoch_learns_from_what_is_left() -> None:
    """twin: the same epoch without dropout, on rows that were dropped before."""
    order, present = shuffle(np.random.default_rng(2), ROWS, ROWS, SETTINGS.batch_size)
    knobs, state = knobs_of(SETTINGS, 5, ROWS), begun()
    centre = np.asarray(state.layers[0].centre)
    before = X - centre
    for index in order:
        before[index] = drop_inputs(knobs, state.layers[0].centre, (X - centre)[index], index[0])
    weight = np.ones(ROWS)
    ours, _ = step(plan_of(NETWORK, SETTINGS), knobs, None, state, X - centre, Y, weight, order, present)
    plain = plan_of(NETWORK, Settings(batch_size=50))
    twin, _ = step(plain, knobs, None, state, before, Y, weight, order, present)
    full, _ = step(plain, knobs, None, state, X - centre, Y, weight, order, present)
    means = [np.asarray(found.layers[0].weight.mean) for found in (ours, twin, full)]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-9, atol=1e-12)
    assert np.abs(means[0] - means[2]).max() > 1e-3


@pytest.mark.parametrize("share", [1.0, -0.1, np.nan])
def test_shares_that_cannot_be(share: float) -> None:
    """contract: refused by the setting's name."""
    with pytest.raises(ValueError, match="input_dropout"):
        Settings(input_dropout=share)


def test_the_estimator_passes_it_on() -> None:
    """contract: in the settings of the fit."""
    x = RNG.normal(size=(60, 2))
    model = TDAMPClassifier((4,), max_epochs=1, input_dropout=0.25, random_state=0).fit(x, (x[:, 0] > 0).astype(int))
    assert model.settings_.input_dropout == 0.25
