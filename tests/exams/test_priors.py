"""The exam of every prior in the catalog: log-odds, their state, learning, training."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import supports
from tdamp import Network, Settings, fit
from tdamp.factors.priors import base
from tdamp.factors.priors.catalog import PRIORS
from tdamp.numerics.beliefs import Moments

UNITS, OUTPUTS, BASE_VAR = 6, 3, 0.6


def layer(seed: int = 0, dtype: str = "float64") -> tuple[jax.Array, Moments]:
    """Offsets and slabs of a small layer."""
    rng = np.random.default_rng(seed)
    slab = Moments(rng.normal(size=(UNITS, OUTPUTS)), rng.uniform(0.1, 0.5, (UNITS, OUTPUTS)))
    return jnp.asarray(rng.normal(size=UNITS), dtype), Moments(*(jnp.asarray(a, dtype) for a in slab))


def test_names() -> None:
    """contract: members stand under the names that they give themselves, and settings take them."""
    assert all(name == one.name for name, one in PRIORS.items())
    assert all(Settings(prior=name).prior == name for name in PRIORS)


@pytest.mark.parametrize("name", PRIORS)
def test_log_odds(name: str) -> None:
    """contract: posterior log-odds over all supports, with the chain of a prior that has one."""
    offset, slab = layer()
    prior = PRIORS[name]
    state = prior.start(0.4, lambda value: jnp.asarray(value))
    found = prior.active_logit(offset, slab, jnp.asarray(BASE_VAR), None, state)
    unary = np.asarray(base.group_logit(offset, slab, jnp.asarray(BASE_VAR)))
    if state == ():
        expected = unary
    else:
        switching = [float(jax.nn.sigmoid(odds)) for odds in state]
        expected = supports.chain_posterior(unary, *switching).logit
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", PRIORS)
def test_removed_and_certain_units_stay(name: str, dtype: str) -> None:
    """contract: offsets of -inf and +inf give infinite log-odds, others finite ones, in both precisions."""
    offset, slab = layer(1, dtype)
    offset = offset.at[0].set(-jnp.inf).at[1].set(jnp.inf)
    prior = PRIORS[name]
    state = prior.start(0.5, lambda value: jnp.asarray(value, dtype))
    found = prior.active_logit(offset, slab, jnp.asarray(BASE_VAR, dtype), None, state)
    assert found.dtype == dtype and found[0] == -jnp.inf and found[1] == jnp.inf
    assert bool(jnp.isfinite(found[2:]).all())


@pytest.mark.parametrize("name", PRIORS)
def test_learning_keeps_the_shape_of_the_state(name: str) -> None:
    """contract: the M-step gives a state of the same structure, finite."""
    offset, slab = layer(2)
    prior = PRIORS[name]
    state = prior.start(0.5, lambda value: jnp.asarray(value))
    learned = prior.learn(offset, slab, jnp.asarray(BASE_VAR), None, state)
    assert jax.tree.structure(learned) == jax.tree.structure(state)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(learned))


@pytest.mark.parametrize("name", PRIORS)
def test_it_trains_and_prunes(name: str) -> None:
    """contract: exactly the units asked for remain, whatever the prior."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 6)).astype(np.float32)
    y = x[:, :1] - x[:, 1:2] + 0.1 * rng.normal(size=(120, 1))
    settings = Settings(max_epochs=8, batch_size=20, prior=name, keep=0.5)
    fitted = fit(Network((6, 8, 1)), x, y, settings, seed=0)
    assert fitted.n_units == 7 and all(
        np.isfinite(leaf).all() for leaf in jax.tree.leaves(fitted.state.layers[0].weight)
    )
    whole = fit(Network((6, 8, 1)), x, y, replace(settings, keep=None), seed=0)
    assert whole.n_units <= 14
