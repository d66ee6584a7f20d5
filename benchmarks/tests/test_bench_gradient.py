"""The gradient baselines: penalty, masks, saliency, fleets, early stopping, gradual pruning."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdamp_bench.core.jobs import Job, n_keep
from tdamp_bench.core.progress import silent
from tdamp_bench.methods.baselines.recipe import Recipe, strong
from tdamp_bench.methods.baselines.start import Orders, he_init
from tdamp_bench.methods.baselines.unit_masks import all_units, best_of_those_left, best_units, count

pytest.importorskip("optax")
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
from tdamp_bench.methods.baselines.masked_adam import Fleet, Pull, masked

DEEP = (12, 9, 6, 3)
LINE = (4, 7, 5, 1)
METHODS = [Adam, GroupLasso, EarlyStop, GroupSnip, Magnitude]


@pytest.fixture(autouse=True)
def small_fleets(monkeypatch):
    """Two networks at a time: few shapes to compile, and many fleets to put together."""
    monkeypatch.setattr(gradient_methods, "FLEET", 2)


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
    """finite differences: float64, a ragged minibatch, with group lasso and proximal term."""
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


def test_saliency_by_loop(blobs):
    """twin: |weight x finite difference| summed weight by weight, in float64."""
    widths, problem = (12, 4, 3), blobs.first(30)
    params = he_init(widths, 3)
    with jax.enable_x64(True):
        double = in_float64(params)
        x, y, present = problem.x.astype(np.float64), problem.y, np.ones(30)
        loss = jax.jit(lambda p: adam_optax.loss(p, "classification", x, y, present))
        expected = [np.zeros(12), np.zeros(4)]
        for l, m, n in [(0, m, n) for m in range(12) for n in range(4)] + [
            (1, m, n) for m in range(4) for n in range(3)
        ]:
            moved = [[leaf.copy() for leaf in layer] for layer in double]
            ends = []
            for step in (1e-6, -1e-6):
                moved[l][0][m, n] = double[l][0][m, n] + step
                ends.append(float(loss([tuple(layer) for layer in moved])))
            expected[l][m] += abs(double[l][0][m, n] * (ends[0] - ends[1]) / 2e-6)
    for found, by_hand in zip(unit_scores.saliency(params, problem), expected, strict=True):
        np.testing.assert_allclose(found, by_hand, rtol=1e-3, atol=1e-6)


def test_saliency_reads_few_rows(blobs, monkeypatch):
    """identity: rows beyond SNIP_ROWS, and all test rows, do not matter."""
    monkeypatch.setattr(unit_scores, "SNIP_ROWS", 50)
    params = he_init((12, 4, 3), 0)
    for found, same in zip(
        unit_scores.saliency(params, blobs), unit_scores.saliency(params, blobs.first(50, 1)), strict=True
    ):
        np.testing.assert_array_equal(found, same)


def test_energy_by_hand():
    """identity: sums and means of squares; large weights do not overflow."""
    params = [(np.float32([[1, 2], [1e30, 0]]), np.zeros(2, np.float32)), (np.float32([[3], [0]]), np.zeros(1))]
    found = [layer.tolist() for layer in unit_scores.energy(params)]
    assert found == [[5.0, pytest.approx(1e60)], [9.0, 0.0]]
    assert [layer.tolist() for layer in unit_scores.energy(params, "mean")] == [[2.5, pytest.approx(5e59)], [9.0, 0.0]]


scores = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, np.inf, np.nan]), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(scores, st.floats(0.0, 1.0))
def test_masks_have_the_size_asked_for(layers, keep):
    """property: n_keep units, none of the layers empty, no unit outside with a higher score than its layer's lowest."""
    widths = [*map(len, layers), 1]
    masks = best_units([np.array(layer) for layer in layers], n_keep(widths, keep))
    assert count(masks) == n_keep(widths, keep) and min(mask.sum() for mask in masks) >= 1
    for layer, mask in zip(layers, masks, strict=True):
        known = np.nan_to_num(np.array(layer), nan=-1.0)
        assert known[mask == 0].max(initial=-1) <= known[mask == 1].min()


@given(scores, st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_no_unit_comes_back(layers, keeps):
    """property: masks nest as fewer are asked for, even if all scores are zero or not numbers."""
    widths = [*map(len, layers), 1]
    masks = all_units(widths)
    rng = np.random.default_rng(0)
    for keep in sorted(keeps, reverse=True):
        shuffled = [rng.permutation(layer) for layer in layers]
        fewer = best_of_those_left(masks, shuffled, n_keep(widths, keep))
        assert all((new <= old).all() for new, old in zip(fewer, masks, strict=True))
        assert count(fewer) == n_keep(widths, keep) and min(mask.sum() for mask in fewer) >= 1
        masks = fewer


def test_ties_go_to_the_earlier_unit():
    """enumeration: layers in their order; the best of each layer is safe."""
    masks = best_units([np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0])], 3)
    assert [mask.tolist() for mask in masks] == [[1, 1, 0], [1, 0]]


def assert_switched_off(params, masks):
    """Everything that touches a removed unit is exactly zero, and something else is not."""
    for l, (weight, bias) in enumerate(params):
        assert not weight[masks[l] == 0].any()
        assert np.asarray(weight)[masks[l] == 1].any()
        if l + 1 < len(masks):
            assert not weight[:, masks[l + 1] == 0].any() and not bias[masks[l + 1] == 0].any()


def test_what_is_masked_stays_zero(blobs):
    """enumeration: masks that come in mid-training, when weights, biases and Adam's moments are far from zero."""
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


def test_switched_off_units_cannot_be_told_from_absent_ones(blobs):
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
    found = masked(params, masks)
    assert_switched_off(found, masks)
    on = np.ix_(masks[0] == 1, masks[1] == 1)
    np.testing.assert_array_equal(np.asarray(found[0][0])[on], params[0][0][on])


@pytest.mark.parametrize("method", METHODS)
def test_units_and_losses_by_share(method, blobs):
    """enumeration: units are n_keep at every share; a loss for every epoch; the last one is the pruned network's."""
    keeps = (1.0, 0.7, 0.5, 0.31, 0.1, 0.01)
    said = []
    jobs = [Job(blobs, 0, keep, {"rate": 0.01, "penalty": 1e-4}) for keep in keeps]
    runs = method().train(jobs, DEEP, 50, 4, said.append)
    assert [run.units for run in runs] == [n_keep(DEEP, keep) for keep in keeps] == [27, 19, 14, 8, 3, 3]
    assert len(said) == 6 and all(len(run.loss) == 4 and np.isfinite(run.loss).all() for run in runs)
    assert runs[-1].loss[-1] > runs[0].loss[-1]


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
            for found, expected in zip(jax.tree.leaves(params), jax.tree.leaves(fleet.params()[0]), strict=True):
                np.testing.assert_allclose(found, expected, atol=2e-5)


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
        for found, expected in zip(
            jax.tree.leaves(fleet.params()[0]), jax.tree.leaves(alone.state.params), strict=True
        ):
            np.testing.assert_allclose(found, expected, atol=1e-5)


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
    """enumeration: networks in each epoch of a fleet; SNIP and magnitude train every share, the others one for all."""
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
    found = stopped(problem)
    for mine, expected in zip(jax.tree.leaves(found.params), jax.tree.leaves(params[best]), strict=True):
        np.testing.assert_array_equal(mine, expected)
    so_far = [int(np.argmin(held_out[: e + 1])) for e in range(12)]
    assert found.curve == pytest.approx([test[e] for e in so_far])


def test_early_stopping_never_sees_the_test_rows(lines):
    """identity: other test rows, the same parameters but another curve."""
    other = replace(lines[0], y_test=-lines[0].y_test, x_test=lines[0].x_test[::-1] + 1)
    found, same = stopped(lines[0], 4), stopped(other, 4)
    for one, two in zip(jax.tree.leaves(found.params), jax.tree.leaves(same.params), strict=True):
        np.testing.assert_array_equal(one, two)
    assert found.curve != same.curve


@pytest.mark.parametrize("method", METHODS)
def test_divergence_is_infinite(method, lines):
    """enumeration: an infinite rate; no NaN, no finite loss at the end, the right number of units."""
    runs = method().train([Job(lines[0], 0, k, {"rate": np.inf}) for k in (1.0, 0.5)], LINE, 20, 3, silent)
    assert [run.loss[-1] for run in runs] == [np.inf] * 2 and [run.units for run in runs] == [16, 8]
    assert not np.isnan([run.loss for run in runs]).any()


@settings(max_examples=10, deadline=None)
@given(st.floats(0.0, 1.0), st.integers(1, 5))
def test_the_schedule_of_gradual_pruning(keep, epochs):
    """enumeration: exactly the target at END, nothing before START, never more than before, zeros in the network."""
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
    """enumeration: a network of zeros, where all energies are equal, loses units and gets none back."""
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
    """enumeration: six configurations for every data set and share, all with a schedule; they train and prune."""
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
