"""Adam with masks and penalties: gradients, masked units, fleets of networks."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from tdamp_bench.core.jobs import Job
from tdamp_bench.methods.baselines import adam_optax, masked_adam
from tdamp_bench.methods.baselines.masked_adam import Fleet, Pull, masked
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.methods.baselines.start import Orders, he_init
from tdamp_bench.methods.baselines.unit_masks import best_units

DEEP = (12, 9, 6, 3)


LINE = (4, 7, 5, 1)


def norms_by_loop(params):
    """sum over units of sqrt(outgoing weights) x norm."""
    total = 0.0
    for weight, _ in params:
        for row in np.asarray(weight, np.float64):
            total += len(row) ** 0.5 * sum(w * w for w in row) ** 0.5
    return total


def in_float64(params):
    """The same numbers in double precision."""
    return [(np.asarray(w, np.float64), np.asarray(b, np.float64)) for w, b in params]


def test_group_lasso_by_loop():
    """twin: unit by unit; a group of zeros counts at most its kink."""
    params = he_init(DEEP, 0)
    group_lasso = jax.jit(masked_adam.group_lasso)
    assert float(group_lasso(params)) == pytest.approx(norms_by_loop(params), rel=1e-5)
    zeros = jax.tree.map(np.zeros_like, params)
    assert 0 <= float(group_lasso(zeros)) <= 27 * 3 * 1e-6
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(jax.jit(jax.grad(group_lasso))(zeros)))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_gradient_of_the_whole_loss(task, blobs, lines):
    """twin: finite differences in float64, a ragged minibatch, with group lasso and proximal term."""
    problem = blobs if task == "classification" else lines[0]
    widths = DEEP if task == "classification" else LINE
    with jax.enable_x64(True):
        params, anchor = in_float64(he_init(widths, 0)), in_float64(he_init(widths, 1))
        present = np.array([1.0] * 8 + [0.0] * 2)
        x, y = problem.x[:10].astype(np.float64), problem.y[:10]

        @jax.jit
        def loss(params):
            return masked_adam.loss(params, task, 0.03, x, y, present, Pull(0.7, anchor))

        leaves, shape = jax.tree.flatten(params)
        grads = jax.tree.leaves(jax.jit(jax.grad(loss))(params))
        rng, step = np.random.default_rng(0), 1e-6
        for _ in range(3):
            way = [rng.standard_normal(leaf.shape) for leaf in leaves]
            there, back = (
                float(loss(jax.tree.unflatten(shape, [a + sign * step * d for a, d in zip(leaves, way, strict=True)])))
                for sign in (1, -1)
            )
            slope = sum(float((g * d).sum()) for g, d in zip(grads, way, strict=True))
            assert (there - back) / (2 * step) == pytest.approx(slope, rel=1e-6)
        plain = jax.jit(adam_optax.loss, static_argnums=1)(params, task, x, y, present)
        squares = sum(((a - b) ** 2).sum() for a, b in zip(leaves, jax.tree.leaves(anchor), strict=True))
        expected = float(plain) + 0.03 * norms_by_loop(params) + 0.35 * squares
        assert float(loss(params)) == pytest.approx(expected, rel=1e-6)


def assert_switched_off(params, masks):
    """Everything that touches a removed unit is exactly zero, and something else is not."""
    for l, (weight, bias) in enumerate(params):
        assert not weight[masks[l] == 0].any()
        assert np.asarray(weight)[masks[l] == 1].any()
        if l + 1 < len(masks):
            assert not weight[:, masks[l + 1] == 0].any() and not bias[masks[l + 1] == 0].any()


def test_what_is_masked_stays_zero(blobs):
    """contract: masks that come in mid-training, when weights, biases and Adam's moments are far from zero."""
    fleet = Fleet([Job(blobs, seed, 0.5, {"rate": 0.01, "penalty": 1e-3}) for seed in (0, 1)], DEEP, 50)
    fleet.epoch()
    rng = np.random.default_rng(0)
    masks = [best_units([rng.random(n) for n in DEEP[:-1]], 14) for _ in range(2)]
    fleet.keep_only(masks)
    for _ in range(3):
        for params, mask in zip(fleet.params(), masks, strict=True):
            assert_switched_off(params, mask)
        fleet.epoch()
    first = jax.tree.leaves(fleet.state.moments.mu)[0]
    assert np.abs(first[0][masks[0][0] == 0]).max() > 0  # the moments of masked inputs are alive


def test_switched_off_units_equal_absent_ones(blobs):
    """twin: the masked network trains like one that never had these units."""
    masks = best_units([np.arange(12), np.arange(9), np.arange(6)], 15)
    fleet = Fleet([Job(blobs, 0, 1.0, {"rate": 0.01, "penalty": 0.01})], DEEP, 50)
    fleet.keep_only([masks])
    kept = [np.flatnonzero(mask) for mask in masks] + [np.arange(3)]
    small = replace(blobs, x=blobs.x[:, kept[0]], x_test=blobs.x_test[:, kept[0]])
    start = [(w[np.ix_(kept[l], kept[l + 1])], b[kept[l + 1]]) for l, (w, b) in enumerate(fleet.params()[0])]
    twin = Fleet([Job(small, 0, 1.0, {"rate": 0.01, "penalty": 0.0})], tuple(map(len, kept)), 50)
    twin.state = adam_optax.State(masked_adam.stack([start]), twin.state.moments)
    fleet.penalty = twin.penalty  # the lasso counts sqrt(outgoing weights), which differs
    for _ in range(3):
        fleet.epoch()
        twin.epoch()
    np.testing.assert_allclose(
        adam_optax.forward(fleet.params()[0], blobs.x_test),
        adam_optax.forward(twin.params()[0], small.x_test),
        atol=1e-4,
    )


def test_a_masked_network_is_masked(blobs):
    """identity: `masked` changes nothing else."""
    params, masks = he_init(DEEP, 0), best_units([np.arange(12), np.arange(9), np.arange(6)], 14)
    result = masked(params, masks)
    assert_switched_off(result, masks)
    on = np.ix_(masks[0] == 1, masks[1] == 1)
    np.testing.assert_array_equal(np.asarray(result[0][0])[on], params[0][0][on])


def test_many_in_a_fleet_are_single_trainings(blobs, lines):
    """twin: recipes, seeds, penalties and data in one fleet, ragged minibatches, against one job at a time."""
    adamw = strong(1e-2, 0.3, 0.2).config | {"penalty": 1e-2}
    for problems, widths, batch in (([blobs, blobs], DEEP, 50), (lines, LINE, 20)):
        jobs = [Job(problems[i % 2], i, 0.6, config) for i, config in enumerate([{"rate": 1e-3}, adamw])]
        together, alone = Fleet(jobs, widths, batch, 2), [Fleet([job], widths, batch, 2) for job in jobs]
        assert together.shared == (problems[0] is problems[1])
        for _ in range(2):
            for fleet in (together, *alone):
                fleet.epoch()
        for params, fleet in zip(together.params(), alone, strict=True):
            for actual, expected in zip(jax.tree.leaves(params), jax.tree.leaves(fleet.params()[0]), strict=True):
                np.testing.assert_allclose(actual, expected, atol=2e-5)


@pytest.mark.parametrize("recipe", [Recipe(0.01), strong(0.01, 0.3, 0.2)])
def test_a_fleet_is_adam(recipe, lines):
    """twin: without masks and penalty, the steps of adam_optax on the same rows; an epoch in parts is the whole one."""
    job = Job(lines[1], 5, 1.0, recipe.config)
    whole, parts = Fleet([job], LINE, 20, 2), Fleet([job], LINE, 20, 2)
    alone, orders = adam_optax.Learner(lines[1], LINE, recipe, 20, 5, epochs=2), Orders(61, 5)
    shares = []
    for _ in range(2):
        whole.epoch()
        parts.epoch(8, shares.append)
        alone.epoch(next(orders))
    assert shares == [0.25, 0.5, 0.75, 1.0] * 2
    for fleet in (whole, parts):
        for actual, expected in zip(
            jax.tree.leaves(fleet.params()[0]), jax.tree.leaves(alone.state.params), strict=True
        ):
            np.testing.assert_allclose(actual, expected, atol=1e-5)
