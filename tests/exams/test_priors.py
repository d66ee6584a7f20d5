"""The exam of every prior in the catalog: log-odds, their state, learning, training, files and exports.

covers: factors.priors.base, factors.priors.catalog, factors.priors.gaussian
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tdamp
from helpers.prior_cases import CASES, any_order
from oracles import supports
from tdamp import Network, Settings, TDAMPRegressor, fit
from tdamp.cli import export_check
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
    """contract: members stand under the names that they give themselves, have a case, and settings take them."""
    assert set(CASES) == set(PRIORS)
    assert all(name == one.name for name, one in PRIORS.items())
    assert all(Settings(prior=name).prior == name for name in PRIORS)


@pytest.mark.parametrize("name", PRIORS)
def test_log_odds(name: str) -> None:
    """enumeration: posterior log-odds over all supports, by the density of the case: at the start, and learned."""
    offset, slab = layer()
    prior, base_var = PRIORS[name], jnp.asarray(BASE_VAR)
    unary = np.asarray(base.group_logit(offset, slab, base_var))
    state = prior.start(0.4, lambda value: jnp.asarray(value))
    for now in (state, prior.learn(offset, slab, base_var, None, state)):
        actual = prior.active_logit(offset, slab, base_var, None, now)
        expected = supports.posterior_logit(unary, partial(CASES[name].log_prior, state=now))
        np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", PRIORS)
def test_orders_that_mean_the_same(name: str) -> None:
    """identity: units in another order (reversed, where neighbours matter) have the same log-odds, in that order; if
    any order will do, the state that is learned is the same."""
    offset, slab = layer(3)
    prior, base_var = PRIORS[name], jnp.asarray(BASE_VAR)
    state = prior.start(0.4, lambda value: jnp.asarray(value))
    order = CASES[name].order(np.random.default_rng(0), UNITS)
    moved = offset[order], Moments(*(a[order] for a in slab))
    whole = prior.active_logit(offset, slab, base_var, None, state)
    np.testing.assert_allclose(prior.active_logit(*moved, base_var, None, state), whole[order], rtol=1e-9, atol=1e-9)
    learned = [prior.learn(*args, base_var, None, state) for args in ((offset, slab), moved)]
    if CASES[name].order is any_order:  # of a chain that is read backwards the two kinds of switches change places
        for a, b in zip(*map(jax.tree.leaves, learned), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", PRIORS)
def test_finite_over_the_numeric_range(name: str, dtype: str) -> None:
    """contract: finite log-odds and states for slabs of means 0 to 1e3, variances and base variances of 1e-6 to 1e6,
    offsets of +-30, in both precisions."""
    prior = PRIORS[name]
    state = prior.start(0.5, lambda value: jnp.asarray(value, dtype))
    step = jax.jit(lambda *args: (prior.active_logit(*args, None, state), prior.learn(*args, None, state)))
    for mean, var, base_var in product((0.0, 1.0, -1e3), (1e-6, 1.0, 1e6), (1e-6, 1.0, 1e6)):
        slab = Moments(*(jnp.full((UNITS, OUTPUTS), a, dtype) for a in (mean, var)))
        result, learned = step(jnp.linspace(-30, 30, UNITS, dtype=dtype), slab, jnp.asarray(base_var, dtype))
        assert all(bool(jnp.isfinite(leaf).all()) for leaf in (result, *jax.tree.leaves(learned)))
        assert {leaf.dtype.name for leaf in (result, *jax.tree.leaves(learned))} == {dtype}


@pytest.mark.parametrize("name", PRIORS)
def test_removed_and_certain_units_stay(name: str, dtype: str) -> None:
    """contract: offsets of -inf and +inf give infinite log-odds, others finite ones, in both precisions."""
    offset, slab = layer(1, dtype)
    offset = offset.at[0].set(-jnp.inf).at[1].set(jnp.inf)
    prior = PRIORS[name]
    state = prior.start(0.5, lambda value: jnp.asarray(value, dtype))
    result = prior.active_logit(offset, slab, jnp.asarray(BASE_VAR, dtype), None, state)
    assert result.dtype == dtype and result[0] == -jnp.inf and result[1] == jnp.inf
    assert bool(jnp.isfinite(result[2:]).all())


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
def test_files_and_exports(name: str, tmp_path: Path) -> None:
    """identity: a loaded model has the same state and predicts the same bits; a NumPy file predicts the same numbers,
    as all spikes are in the moments."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 6)).astype(np.float32).astype(np.float64)
    y = x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=120)
    model = TDAMPRegressor((8,), prior=name, keep=0.6, max_epochs=8, early_stopping=False, random_state=0).fit(x, y)
    tdamp.save(model, tmp_path / "model")
    loaded = tdamp.load(tmp_path / "model")
    assert loaded.settings_.prior == name
    for ours, theirs in zip(loaded.fitted_.state.layers, model.fitted_.state.layers, strict=True):
        assert jax.tree.structure(ours.prior_state) == jax.tree.structure(theirs.prior_state)
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    export_check.write("numpy", model.to_plain(), tmp_path / "predictor.py")
    assert export_check.difference("numpy", tmp_path / "predictor.py", model) < 1e-4


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
