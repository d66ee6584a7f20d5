"""The expected loss of log-likelihood without a group, against networks from which the group has been taken."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_digits, make_friedman1

from tdamp import Fitted, Network, Settings, fit
from tdamp.engine.plan import Minibatch
from tdamp.engine.predict import mean_outputs, output_moments
from tdamp.engine.ranking import group_losses
from tdamp.engine.state import remove
from tdamp.numerics.beliefs import Moments

AT_REST = Settings(max_epochs=60, batch_size=32, memory=1.0)
"""A posterior that has come to rest, as it is while units go."""


def friedman() -> tuple[np.ndarray, np.ndarray]:
    """Ten inputs, five of which matter."""
    x, y = make_friedman1(600, noise=1.0, random_state=0)
    return x - 0.5, (y - y.mean())[:, None] / y.std()


def waves() -> tuple[np.ndarray, np.ndarray]:
    """A sum of twelve sines, each weaker than the one before."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.7, 1.7, (1000, 12))
    return x, (np.sin(1.5 * x) @ 0.8 ** np.arange(12))[:, None] / 2 + 0.2 * rng.normal(size=(1000, 1))


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Eight by eight pixels."""
    x, y = load_digits(return_X_y=True)
    return x[:700] / 8 - 0.5, y[:700].astype(np.int32)


TABLES = {
    "friedman": (friedman, Network((10, 16, 16, 1)), 1.0),
    "waves": (waves, Network((12, 16, 16, 16, 1)), 2.0),
    "digits": (digits, Network((64, 24, 16, 10), task="classification"), 1.0),
}


@cache
def trained(name: str) -> tuple[Fitted, Minibatch]:
    """A small network, and the rows that it has learned from."""
    make, network, data_weight = TABLES[name]
    x, y = (jnp.asarray(a) for a in make())
    fitted = fit(network, np.asarray(x), np.asarray(y), replace(AT_REST, data_weight=data_weight))
    return fitted, Minibatch(x, y, jnp.ones(len(x)))


def loss_by_hand(fitted: Fitted, rows: Minibatch, layer: int, units: list[int]) -> float:
    """Expected loss of log-likelihood when units are removed; y is as the prediction of the whole network says."""
    active = [np.ones(n, bool) for n in fitted.network.widths[:-1]]
    active[layer][units] = False
    return float(expected_loss(fitted.network, fitted.state, remove(fitted.state, active), rows.x))


@partial(jax.jit, static_argnums=0)
def expected_loss(network: Network, state: Any, smaller: Any, x: jax.Array) -> jax.Array:
    """Of the mean outputs of a smaller network, at the variance of the outputs of the whole one."""
    z_var = output_moments(network, state.layers, x).var
    whole, without = (mean_outputs(network, s.layers, x) for s in (state, smaller))
    if network.output.has_classes:
        before, after = (network.output.log_probs(Moments(z, z_var), state.noise_var) for z in (whole, without))
        return (jnp.exp(before) * (before - after)).sum()
    return (0.5 * jnp.square(whole - without) / (state.noise_var + z_var)).sum()


@pytest.mark.parametrize("name", TABLES)
def test_it_ranks_as_removal_does(name: str) -> None:
    """enumeration: every group removed by itself; rank correlation, by layer and in all, at least 0.9."""
    fitted, rows = trained(name)
    losses = [np.asarray(each) for each in group_losses(fitted.network, fitted.state, rows, None)]
    by_hand = [
        np.array([loss_by_hand(fitted, rows, l, [n]) for n in range(len(each))]) for l, each in enumerate(losses)
    ]
    assert spearmanr(np.concatenate(losses), np.concatenate(by_hand))[0] >= 0.9
    for ours, theirs in zip(losses, by_hand, strict=True):
        assert spearmanr(ours, theirs)[0] >= 0.9


def test_nats_of_a_linear_model() -> None:
    """rate: for a linear Gaussian model, over draws of y from the prediction, the mean is the expected loss itself."""
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(400, 5)))
    fitted = fit(Network((5, 2)), np.asarray(x), np.asarray(x @ rng.normal(size=(5, 2)) + rng.normal(size=(400, 2))))
    z = output_moments(fitted.network, fitted.state.layers, x)
    draws = [z.mean + jnp.sqrt(z.var + fitted.state.noise_var) * rng.normal(size=(400, 2)) for _ in range(200)]
    losses = np.array(
        [group_losses(fitted.network, fitted.state, Minibatch(x, y, jnp.ones(400)), None)[0] for y in draws]
    )
    expected = [loss_by_hand(fitted, Minibatch(x, draws[0], jnp.ones(400)), 0, [n]) for n in range(5)]
    errors = losses.std(0) / np.sqrt(len(draws))
    assert (np.abs(losses.mean(0) - expected) < 4 * errors).all()


def test_inputs_of_a_group_go_together() -> None:
    """identity: the score of a shared gate is the sum of the inputs'; every input of a group has the group's loss."""
    fitted, rows = trained("friedman")
    group_of = jnp.asarray([0, 0, 0, 1, 1, 2, 3, 4, 5, 6])
    losses = np.asarray(group_losses(fitted.network, fitted.state, rows, group_of)[0])
    assert len(set(losses[:3])) == len(set(losses[3:5])) == 1
    by_hand = [loss_by_hand(fitted, rows, 0, np.flatnonzero(np.asarray(group_of) == g).tolist()) for g in range(7)]
    assert spearmanr(losses[[0, 3, 5, 6, 7, 8, 9]], by_hand)[0] >= 0.9


def test_each_datum_counts_once() -> None:
    """identity: rows of weight two count twice, rows of weight zero not at all, parts of the rows add up."""
    fitted, rows = trained("digits")
    whole = group_losses(fitted.network, fitted.state, rows, None)
    first = jnp.arange(len(rows.x)) < 300
    parts = [group_losses(fitted.network, fitted.state, rows._replace(weight=1.0 * m), None) for m in (first, ~first)]
    twice = group_losses(fitted.network, fitted.state, rows._replace(weight=2 * rows.weight), None)
    for all_rows, one, other, double in zip(whole, *parts, twice, strict=True):
        np.testing.assert_allclose(one + other, all_rows, rtol=1e-6)
        np.testing.assert_allclose(double, 2 * all_rows, rtol=1e-6)


def test_removed_units_lose_nothing() -> None:
    """identity: what is not there any more; no loss is negative."""
    fitted, rows = trained("friedman")
    active = [np.arange(n) % 3 > 0 for n in fitted.network.widths[:-1]]
    state = remove(fitted.state, active)
    for each, mask in zip(group_losses(fitted.network, state, rows, None), active, strict=True):
        assert (np.asarray(each)[~mask] == 0).all() and (np.asarray(each) >= 0).all()


def test_of_two_copies_one_goes() -> None:
    """contract: four inputs that matter, each there twice; half are to go, and of each pair one does."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(800, 4))
    y = x @ np.array([[1.0], [-0.8], [0.9], [0.7]]) + 0.3 * rng.normal(size=(800, 1))
    settings: Any = Settings(max_epochs=40, batch_size=32, keep=(0.5, 0.75), ranking="loss")
    fitted = fit(Network((8, 8, 1)), np.hstack([x, x]), y, settings)
    assert sorted(fitted.inputs % 4) == [0, 1, 2, 3]


def test_no_nan_in_both_precisions(dtype: str) -> None:
    """contract: finite and not negative, also where predictions are sure of the wrong class."""
    network = Network((3, 4, 3), task="classification")
    x = np.full((6, 3), 1e3, dtype)
    fitted = fit(
        network,
        x * np.random.default_rng(0).normal(size=x.shape).astype(dtype),
        np.arange(6) % 3,
        Settings(max_epochs=2),
    )
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype) if leaf.dtype.kind == "f" else leaf, fitted.state)
    rows = Minibatch(jnp.asarray(x), jnp.asarray(np.arange(6) % 3), jnp.ones(6, dtype))
    for losses in group_losses(network, state, rows, None):
        assert losses.dtype == dtype and bool((losses >= 0).all()) and bool(jnp.isfinite(losses).all())
