"""The gradient baselines as methods: shares, early stopping, gradual pruning."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdamp_bench.core.jobs import Job, n_keep
from tdamp_bench.core.progress import silent
from tdamp_bench.methods.baselines import adam_optax, gradient_methods, masked_adam, unit_scores
from tdamp_bench.methods.baselines.gradient_methods import (
    Adam,
    AdamW,
    EarlyStop,
    GroupLasso,
    GroupSnip,
    Magnitude,
    MagnitudeAdamW,
)
from tdamp_bench.methods.baselines.masked_adam import Fleet, masked
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.methods.baselines.unit_masks import all_units, best_units, count

DEEP = (12, 9, 6, 3)


LINE = (4, 7, 5, 1)


METHODS = [Adam, GroupLasso, EarlyStop, GroupSnip, Magnitude]


@pytest.fixture(autouse=True)
def small_fleets(monkeypatch):
    """Two networks at a time: few shapes to compile, and many fleets to put together."""
    monkeypatch.setattr(gradient_methods, "FLEET", 2)


def assert_switched_off(params, masks):
    """Everything that touches a removed unit is exactly zero, and something else is not."""
    for l, (weight, bias) in enumerate(params):
        assert not weight[masks[l] == 0].any()
        assert np.asarray(weight)[masks[l] == 1].any()
        if l + 1 < len(masks):
            assert not weight[:, masks[l + 1] == 0].any() and not bias[masks[l + 1] == 0].any()


@pytest.mark.parametrize("method", METHODS)
def test_units_and_losses_by_share(method, blobs):
    """contract: units are n_keep at every share; a loss for every epoch; the last one is the pruned network's."""
    keeps = (1.0, 0.7, 0.5, 0.31, 0.1, 0.01)
    ticks = []
    jobs = [Job(blobs, 0, keep, {"rate": 0.01, "penalty": 1e-4}) for keep in keeps]
    runs = method().train(jobs, DEEP, 50, 4, ticks.append)
    assert [run.units for run in runs] == [n_keep(DEEP, keep) for keep in keeps] == [27, 19, 14, 8, 3, 3]
    assert len(ticks) == 6 and all(len(run.loss) == 4 and np.isfinite(run.loss).all() for run in runs)
    assert runs[-1].loss[-1] > runs[0].loss[-1]


@pytest.mark.parametrize("method", METHODS)
def test_jobs_together_give_what_separate_calls_give(method, lines):
    """twin: shares, seeds and data in one call of more jobs than a fleet holds, one job twice, against calls of one."""
    jobs = [Job(lines[s], s, keep, {"rate": 0.01, "penalty": 1e-3}) for keep in (1.0, 0.6, 0.3) for s in (0, 1)]
    jobs.append(jobs[2])
    together = method().train(jobs, LINE, 20, 3, silent)
    for job, run in zip(jobs, together, strict=True):
        (alone,) = method().train([job], LINE, 20, 3, silent)
        np.testing.assert_allclose(run.loss, alone.loss, rtol=1e-3)
        assert run.units == alone.units


def test_shares_cost_one_training(blobs, monkeypatch):
    """contract: networks in each epoch of a fleet; SNIP and magnitude train every share, the others one for all."""
    trained = []
    epoch = Fleet.epoch
    monkeypatch.setattr(Fleet, "epoch", lambda self, *rest: (trained.append(len(self.jobs)), epoch(self, *rest)))
    for method in METHODS:
        trained.clear()
        method().train([Job(blobs, 0, k, {"rate": 0.01}) for k in (1.0, 0.5, 0.2)], DEEP, 50, 2, silent)
        assert trained == ([2, 2, 1, 1] if method in (GroupSnip, Magnitude) else [1, 1])


def stopped(problem, epochs=12):
    """Early stopping's parameters and curve on a problem that is soon overfitted."""
    job = Job(problem, 0, 1.0, {"rate": 0.1})
    return EarlyStop()._fit([job], LINE, 20, epochs)[0]


def test_early_stopping_keeps_the_best_epoch(lines):
    """twin: the same training epoch by epoch on the other nine tenths, and the least of the held-out losses."""
    problem = replace(lines[0], y=np.random.default_rng(0).standard_normal((61, 1)).astype(np.float32))
    inner = problem.validation(6, seed=1)
    fleet = Fleet([Job(inner, 0, 1.0, {"rate": 0.1})], LINE, 20)
    held_out, test, params = [], [], []
    for _ in range(12):
        fleet.epoch()
        params.append(fleet.params()[0])
        out = np.asarray(adam_optax.forward(params[-1], inner.x_test))
        held_out.append(((out - inner.y_test) ** 2).sum())
        test.append(masked_adam.test_loss(params[-1], problem))
    best = int(np.argmin(held_out))
    assert 0 < best < 11  # else the last epoch would do
    actual = stopped(problem)
    for mine, expected in zip(jax.tree.leaves(actual.params), jax.tree.leaves(params[best]), strict=True):
        np.testing.assert_array_equal(mine, expected)
    so_far = [int(np.argmin(held_out[: e + 1])) for e in range(12)]
    assert actual.curve == pytest.approx([test[e] for e in so_far])


def test_early_stopping_never_sees_the_test_rows(lines):
    """identity: other test rows, the same parameters but another curve."""
    other = replace(lines[0], y_test=-lines[0].y_test, x_test=lines[0].x_test[::-1] + 1)
    result, same = stopped(lines[0], 4), stopped(other, 4)
    for one, two in zip(jax.tree.leaves(result.params), jax.tree.leaves(same.params), strict=True):
        np.testing.assert_array_equal(one, two)
    assert result.curve != same.curve


@pytest.mark.parametrize("method", METHODS)
def test_divergence_is_infinite(method, lines):
    """contract: an infinite rate; no NaN, no finite loss at the end, the right number of units."""
    runs = method().train([Job(lines[0], 0, k, {"rate": np.inf}) for k in (1.0, 0.5)], LINE, 20, 3, silent)
    assert [run.loss[-1] for run in runs] == [np.inf] * 2 and [run.units for run in runs] == [16, 8]
    assert not np.isnan([run.loss for run in runs]).any()


@settings(max_examples=10, deadline=None)
@given(st.floats(0.0, 1.0), st.integers(1, 5))
def test_the_schedule_of_gradual_pruning(keep, epochs):
    """contract: exactly the target at END, nothing before START, never more than before, zeros in the network."""
    lines_job = Job(_tiny(), 0, keep, {"rate": 0.01})
    method, fleet = Magnitude(), Fleet([lines_job], LINE, 20)
    known, seen = all_units(LINE), []
    for epoch in range(epochs):
        for part in range(8):
            method.prune(fleet, epoch, epochs, (part + 1) / 8)
            (masks,), (params,) = fleet.left(), fleet.params()
            assert all((new <= old).all() for new, old in zip(masks, known, strict=True))
            assert_switched_off(params, masks)
            known, done = masks, (epoch + (part + 1) / 8) / epochs
            seen.append((done, count(masks)))
    assert all(n == 16 for done, n in seen if done <= Magnitude.START)
    assert all(n == n_keep(LINE, keep) for done, n in seen if done >= Magnitude.END)


def _tiny():
    """Eight rows."""
    from tdamp_bench.core.problems import Problem

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((8, 4)).astype(np.float32), rng.standard_normal((8, 1)).astype(np.float32)
    return Problem("regression", x, y, x, y)


def test_gradual_pruning_of_zeros():
    """contract: a network of zeros, where all energies are equal, loses units and gets none back."""
    method, fleet = Magnitude(), Fleet([Job(_tiny(), 0, 0.3, {"rate": 0.0})], LINE, 20)
    fleet.state = jax.tree.map(jnp.zeros_like, fleet.state)
    last = [np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0] * 6 + [1.0]), np.array([0.0] * 4 + [1.0])]
    fleet.keep_only([best_units(last, 10)])
    before = fleet.left()[0]
    method.prune(fleet, 0, 1, 1.0)
    (after,) = fleet.left()
    assert count(after) == 5 and all((new <= old).all() for new, old in zip(after, before, strict=True))


def test_gradual_pruning_in_one_epoch_shows_the_pruned_network(blobs):
    """twin: one epoch of one part ends with pruning; its loss is the small network's."""
    job = Job(blobs, 0, 0.1, {"rate": 0.01})
    (run,) = Magnitude().train([job], DEEP, 120, 1, silent)
    fleet = Fleet([job], DEEP, 120)
    fleet.epoch()
    (params,) = fleet.params()
    pruned = masked(params, best_units(unit_scores.energy(params), 3))
    assert run.loss == [masked_adam.test_loss(pruned, blobs)] and run.units == 3
    assert run.loss[0] != masked_adam.test_loss(params, blobs)


@pytest.mark.parametrize("method", [AdamW, MagnitudeAdamW])
def test_adamw_is_tuned_with_the_same_budget(method, blobs):
    """contract: six configurations for every data set and share, all with a schedule; they train and prune."""
    for data in ("boston", "mnist"):
        for keep in (1.0, 0.8, 0.5, 0.3, 0.1, 0.05):
            grid = method().grid(data, keep)
            assert len(grid) == len({str(config) for config in grid}) == 6
            assert all(Recipe.of(config).cosine for config in grid)
    jobs = [Job(blobs, 0, keep, method().grid("mnist", keep)[0]) for keep in (1.0, 0.5)]
    runs = method().train(jobs, DEEP, 50, 3, silent)
    assert [run.units for run in runs] == [27, 14] and all(np.isfinite(run.loss).all() for run in runs)


def test_pruning_goes_on_with_the_schedule(blobs, monkeypatch):
    """identity: the rates of eight parts an epoch are those of the whole epochs, down to nearly nothing."""
    seen = []
    rates = masked_adam.Pace.next
    monkeypatch.setattr(masked_adam.Pace, "next", lambda self, count: seen.append(rates(self, count)) or seen[-1])
    job = Job(blobs, 0, 0.5, strong(0.01, 0.1, 0.0).config)
    MagnitudeAdamW().train([job], DEEP, 20, 4, silent)
    expected = 0.005 * (1 + np.cos(np.pi * np.arange(24) / 24))
    np.testing.assert_allclose(np.concatenate(seen, 1)[0], expected, rtol=1e-4, atol=1e-8)
