"""The M-step: noise variance by closed form and by argmax, base variance within its bounds."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from oracles import supports
from tdamp import Network, Settings, TDAMPRegressor, fit
from tdamp.algorithm import m_step
from tdamp.engine import mstep, turbo
from tdamp.engine.plan import plan_of
from tdamp.engine.state import init, question
from tdamp.estimators import defaults
from tdamp.estimators.parameters import settings_of
from tdamp.factors.likelihoods import probit
from tdamp.factors.likelihoods.base import NoiseRule
from tdamp.factors.likelihoods.catalog import LIKELIHOODS
from tdamp.factors.priors.burst import Chain
from tdamp.numerics.beliefs import Moments

N_ROWS = 40
OUTPUTS = {"regression": LIKELIHOODS["gaussian"], "classification": LIKELIHOODS["probit"]}


def target(task: str, rule: str, z_post: Moments, y: np.ndarray, weight: np.ndarray, noise_var: float) -> jax.Array:
    """noise_target of one batch."""
    likelihood = OUTPUTS[task]
    stats = likelihood.noise_stats(rule, z_post, y, weight, jnp.asarray(noise_var))
    return likelihood.noise_target(rule, stats, jnp.asarray(noise_var))


def expected_log_likelihood(margin: Moments, share: np.ndarray, noise_var: float) -> float:
    """Mean of log Phi(-margin / sqrt(v)) over a mixture of Gaussians, by a dense grid in every component."""
    t = np.linspace(-9, 9, 301)
    weight = np.exp(-0.5 * t * t)
    points = margin.mean[:, None] + np.sqrt(margin.var)[:, None] * t
    inner = (log_ndtr(-points / np.sqrt(noise_var)) * weight).sum(1) / weight.sum()
    return float((share * inner).sum())


def numerical_best(margin: Moments, share: np.ndarray) -> float:
    """The argmax over v, by golden section in log v."""
    found = minimize_scalar(
        lambda s: -expected_log_likelihood(margin, share, np.exp(s)),
        bounds=(-9, 9),
        method="bounded",
        options={"xatol": 1e-5},
    )
    return float(np.exp(found.x))


def test_regression() -> None:
    """identity: the weighted mean of (y - z)^2 + z_var per output is where d E log N(y; z, v) / dv = 0."""
    rng = np.random.default_rng(0)
    mean, var, y = rng.normal(size=(30, 2)), rng.exponential(size=(30, 2)), rng.normal(size=(30, 2))
    weight = rng.integers(0, 3, 30).astype(float)
    ours = target("regression", "em", Moments(mean, var), y, weight, 1.0)

    def expected(v: jax.Array) -> jax.Array:
        per_row = -0.5 * (jnp.log(v) + ((y - mean) ** 2 + var) / v)
        return (weight[:, None] * per_row).sum()

    np.testing.assert_allclose(jax.grad(expected)(ours), np.zeros(2), atol=1e-10)
    assert np.all(jax.grad(expected)(0.9 * ours) > 0) and np.all(jax.grad(expected)(1.1 * ours) < 0)


@pytest.mark.parametrize("rule", ["em", "numerical"])
def test_stats_add_up(rule: NoiseRule) -> None:
    """identity: the statistics of a batch are the sums over its parts, here chosen by row weights."""
    rng = np.random.default_rng(1)
    mean, var, y = rng.normal(size=(N_ROWS, 3)), rng.exponential(size=(N_ROWS, 3)), rng.integers(0, 3, N_ROWS)
    weight = rng.uniform(0.5, 2.0, N_ROWS)
    first = np.arange(N_ROWS) < 11
    whole, a, b = (
        OUTPUTS["classification"].noise_stats(rule, Moments(mean, var), y, w, jnp.asarray(1.0))
        for w in (weight, weight * first, weight * ~first)
    )
    np.testing.assert_allclose(whole.weight, a.weight + b.weight, rtol=1e-12)
    np.testing.assert_allclose(whole.sums, a.sums + b.sums, rtol=1e-12)


@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_numerical_rule(spread: float) -> None:
    """quadrature: the numerical rule finds the argmax of the true mixture of Gaussians, to 2 %, from either side."""
    rng, n = np.random.default_rng(0), N_ROWS
    mean = rng.normal(size=(n, 3))
    label = rng.integers(0, 3, n)
    mean[np.arange(n), label] += spread
    z_post = Moments(mean, 0.3 * rng.exponential(size=(n, 3)))
    rows = [(i, m) for i in range(n) for m in range(3) if m != label[i]]
    margin = Moments(
        np.array([mean[i, m] - mean[i, label[i]] for i, m in rows]),
        np.array([z_post.var[i, m] + z_post.var[i, label[i]] for i, m in rows]),
    )
    best = numerical_best(margin, np.full(len(rows), 1 / len(rows)))
    for present in (1.0, best / 9, 9 * best):
        ours = target("classification", "numerical", z_post, label, np.ones(n), present)
        np.testing.assert_allclose(ours, best, rtol=0.02)


def test_gumbel_rule_on_gumbel_margins() -> None:
    """quadrature: if the margins are minimum Gumbel, the closed rule finds the numerical argmax within 1 %.

    The margins lie at the quantiles of the law, so that no sampling error enters.
    """
    n, loc, scale = 4000, -1.5, 1.3
    margin = loc + scale * np.log(-np.log1p(-(np.arange(n) + 0.5) / n))
    best = numerical_best(Moments(margin, np.zeros(n)), np.full(n, 1 / n))
    z_post = Moments(np.stack([np.zeros(n), margin], 1), np.zeros((n, 2)))
    closed = target("classification", "em", z_post, np.zeros(n, int), np.ones(n), 1.0)
    np.testing.assert_allclose(closed, best, rtol=0.01)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("rule", ["em", "numerical", "fixed"])
def test_float32_stays_float32(task: str, rule: NoiseRule) -> None:
    """contract: no rule turns float32 into float64, although JAX could hold it."""
    z_post = Moments(jnp.zeros((N_ROWS, 3), jnp.float32), jnp.ones((N_ROWS, 3), jnp.float32))
    y = jnp.zeros((N_ROWS, 3), jnp.float32) if task == "regression" else jnp.zeros(N_ROWS, jnp.int32)
    noise_var = jnp.float32(1.0)
    likelihood = OUTPUTS[task]
    stats = likelihood.noise_stats(rule, z_post, y, jnp.ones(N_ROWS, jnp.float32), noise_var)
    found = likelihood.noise_target(rule, stats, noise_var)
    damped, _ = mstep.bound_noise(likelihood.damped_noise(noise_var, found), noise_var)
    running, _ = mstep.log_average(noise_var, found, jnp.float32(0.1), noise_var)
    layer = jax.tree.map(lambda a: a.astype(jnp.float32) if a.dtype == jnp.float64 else a, layer_with(0.3, 0.1))
    learned = turbo.learn(mstep.learn_base_var(layer, noise_var), "burst", None)
    leaves = jax.tree.leaves((stats, found, damped, running, learned))
    assert {leaf.dtype.name for leaf in leaves} == {"float32", "bool"}


@pytest.mark.parametrize("place", [-9.0, -4.0, -0.03, 0.0, 1.23, 4.0, 9.0])
def test_peak_of_a_parabola(place: float) -> None:
    """identity: its vertex where the grid of candidates holds it, the grid's end where it lies beyond."""
    peak = probit._peak(-jnp.square(jnp.asarray(probit._GRID) - place))
    np.testing.assert_allclose(peak, np.clip(place, -4, 4), atol=1e-12)


def test_peak_of_a_flat_function() -> None:
    """identity: where nothing is better than anything else, a node of the grid; no division by the bend of zero."""
    assert probit._peak(jnp.zeros(len(probit._GRID))) in np.asarray(probit._GRID)


def test_fixed_rule() -> None:
    """identity: a fixed noise variance stays what it is."""
    z_post = Moments(np.zeros((N_ROWS, 3)), np.ones((N_ROWS, 3)))
    assert target("classification", "fixed", z_post, np.zeros(N_ROWS, int), np.ones(N_ROWS), 0.123) == 0.123


@pytest.mark.parametrize("n_rows", [60, 2_000, 100_000])
@pytest.mark.parametrize("rate", [1e-3, 0.02, 1.0])
def test_the_noise_moves_by_rows(n_rows: int, rate: float) -> None:
    """identity: a batch in parts moves log v as far as the whole; 100 rows, or a twentieth, move it by the rate."""
    unit = min(100, n_rows // 20)
    np.testing.assert_allclose(mstep.noise_step(rate, jnp.ones(unit), n_rows), rate, rtol=1e-12)
    whole = mstep.noise_step(rate, jnp.ones(9 * n_rows // 10), n_rows)
    left = np.prod([1 - mstep.noise_step(rate, jnp.ones(part * n_rows // 10), n_rows) for part in (2, 3, 4)])
    np.testing.assert_allclose(1 - whole, left, rtol=1e-9, atol=1e-15)
    assert mstep.noise_step(rate, jnp.zeros(3), n_rows) == 0
    for heavy in (1e-3, 1500.0):  # weights of one size change nothing
        same = mstep.noise_step(rate, jnp.full(unit, heavy), heavy * n_rows)
        np.testing.assert_allclose(same, rate, rtol=1e-9)


@pytest.mark.parametrize("batch_size", [20, 101, 404])
@pytest.mark.parametrize("true", [0.01, 0.1])
def test_the_noise_converges_with_any_batch(batch_size: int, true: float) -> None:
    """rate: 25 epochs bring it within a factor 1.5 of the truth; it was 0.04 and 0.36 with batches of 101 and 404 rows,
    for a true 0.01."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(404, 6)).astype(np.float32)
    clean = x @ rng.normal(size=6)
    y = clean / clean.std() + np.sqrt(true) * rng.normal(size=404)
    fitted = fit(Network((6, 32, 1)), x, y.astype(np.float32)[:, None], Settings(batch_size=batch_size))
    assert 2 / 3 < float(fitted.state.noise_var[0]) / true < 3 / 2


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 32])
def test_small_minibatches_learn_the_same_noise(rows: int) -> None:
    """calibration: the mean of log(target), mended, is the log of the truth within three standard errors, with known
    variances beside the residuals or not; unmended one row gives 0.28 of it, four give 0.76."""
    rng, draws, true = np.random.default_rng(rows), 4000, 0.04
    for known in (0.0, 0.01):
        y = np.sqrt(true - known) * rng.normal(size=(draws, rows, 1))
        z = Moments(jnp.zeros((draws, rows, 1)), jnp.full((draws, rows, 1), known))
        weight = jnp.ones((draws, rows))
        stats = jax.vmap(lambda z, y, w: OUTPUTS["regression"].noise_stats("em", z, y, w, jnp.ones(1)))(z, y, weight)
        bias = jax.vmap(lambda z, y, w: OUTPUTS["regression"].noise_log_bias("em", z, y, w))(z, y, weight)
        found = np.log(stats.sums / stats.weight[:, None]) + bias
        far = abs(found.mean() - np.log(true))
        assert far < 3 * found.std() / np.sqrt(draws) + (0.06 if known else 0), "with known variances it is approximate"


def test_the_estimators_own_batches_move_the_noise_as_before() -> None:
    """identity: a fiftieth with every minibatch of the size that was chosen; a user's batch moves it by its rows."""
    for n_rows, batch in ((1, 8), (30, 8), (500, 16), (2_000, 64), (60_000, 128), (10_000, 32)):
        step = mstep.noise_step(defaults.noise_rate(n_rows, batch), jnp.ones(min(batch, n_rows)), float(n_rows))
        np.testing.assert_allclose(step, 0.02, rtol=1e-9)
    network = Network((3, 64, 64, 1))
    for given in ({}, {"batch_size": 500}):
        settings, _ = settings_of(TDAMPRegressor(**given), network, 500)
        assert settings.noise_rate == defaults.noise_rate(500, 16)
    assert settings_of(TDAMPRegressor(noise_rate=0.5), network, 500)[0].noise_rate == 0.5


def test_noise_is_bounded_and_counted() -> None:
    """contract: the clip acts exactly outside NOISE_RANGE * scale and says so; damping is half old, half new."""
    low, high = mstep.NOISE_RANGE
    inside = [(value, value, 0) for value in (low * 2, 3.0, high * 2)]  # the bounds themselves are
    for value, expected, count in [(0.0, low * 2, 1), (1e12, high * 2, 1), *inside]:
        bounded, clipped = mstep.bound_noise(jnp.float64(value), 2.0)
        assert bounded == expected and clipped == count
    damped, _ = mstep.bound_noise(OUTPUTS["classification"].damped_noise(jnp.float64(1.0), jnp.float64(3.0)), 1.0)
    assert damped == 2.0
    new, _ = mstep.bound_noise(OUTPUTS["regression"].damped_noise(jnp.float64(1.0), jnp.float64(3.0)), 1.0)
    assert new == 3.0
    running, _ = mstep.log_average(jnp.float64(1.0), jnp.float64(4.0), 0.5, 1.0)
    np.testing.assert_allclose(running, 2.0, rtol=1e-12)  # half way in log


def layer_with(mean: float, var: float, active_prob: float = 1.0) -> turbo.Layer:
    """Twenty equal weights in five units."""
    shape, one = (5, 4), jnp.float64(1.0)
    return turbo.Layer(
        weight=Moments(jnp.full(shape, mean), jnp.full(shape, var)),
        bias=Moments(jnp.zeros(4), jnp.ones(4)),
        centre=jnp.zeros(5),
        offset=jnp.zeros(5),
        bias_offset=jnp.zeros(4),
        base_var=one,
        bias_base_var=one,
        active_prob=jnp.full(5, active_prob),
        sure=jnp.asarray(False),
        prior_state=Chain(one, one),
    )


@pytest.mark.parametrize(("mean", "var", "active_prob"), [(0.7, 0.2, 1.0), (-0.4, 0.9, 0.3)])
def test_base_var_tends_to_the_second_moment(mean: float, var: float, active_prob: float) -> None:
    """identity: repeated, the damped step ends at the second moment of the *active* weights (the EM fixed point)."""
    layer = layer_with(mean, var, active_prob)
    for _ in range(60):
        layer = mstep.learn_base_var(layer, jnp.float64(1.0))
    np.testing.assert_allclose(layer.base_var, mean**2 + var, rtol=1e-10)


def test_base_var_can_neither_collapse_nor_blow_up() -> None:
    """contract: whatever the weights, base_var stays within BASE_VAR_RANGE of its start."""
    for mean, var, end in [(0.0, 1e-12, 0), (1e6, 1.0, 1)]:
        layer = layer_with(mean, var)
        for _ in range(60):
            layer = mstep.learn_base_var(layer, jnp.float64(1.0))
        np.testing.assert_allclose(layer.base_var, mstep.BASE_VAR_RANGE[end], rtol=1e-6)
    nothing = mstep.learn_base_var(layer_with(1.0, 1.0, active_prob=0.0), jnp.float64(1.0))
    assert np.isfinite(nothing.base_var) and nothing.base_var > 0


def test_base_var_of_tiny_and_of_huge_weights() -> None:
    """identity: in float32 too the next base variance is the geometric mean of this one and the target."""
    for unit in (1e-30, 1.0, 1e30):
        layer = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), layer_with(0.0, 4.0))
        layer = layer._replace(
            weight=Moments(layer.weight.mean, layer.weight.var * np.float32(unit)),
            base_var=layer.base_var * np.float32(unit),
        )
        naive = float(jnp.sqrt(layer.base_var * np.float32(4 * unit)))
        assert (unit == 1) == (0 < naive < np.inf)
        learned = mstep.learn_base_var(layer, layer.base_var)
        np.testing.assert_allclose(float(learned.base_var), unit * 2.0, rtol=1e-5)


def test_the_chain_is_learned_from_every_support() -> None:
    """enumeration: expected transitions over all supports of five units, plus one of each, in an epoch's M-step."""
    network, settings = Network((5, 3, 1)), Settings(prior="burst")
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 20, 5))
    state = question(init(network, settings, rng, x, y[:, :1]), 0.0, None, from_here=False)
    layer = state.layers[0]._replace(
        weight=Moments(jnp.asarray(rng.normal(size=(5, 3))), jnp.full((5, 3), 0.1)), base_var=jnp.ones(())
    )
    state = state._replace(layers=(layer, state.layers[1]))
    unary = (0.5 * np.log(0.1) + np.asarray(layer.weight.mean) ** 2 / 0.2).sum(1)
    switching = [float(jax.nn.sigmoid(odds)) for odds in layer.prior_state]
    counts = 1 + supports.chain_posterior(unary, *switching).counts
    found, _ = m_step(plan_of(network, settings), None, state, mstep.no_stats(network, "em", x.dtype))
    learned = np.log([counts[0, 1] / counts[0, 0], counts[1, 0] / counts[1, 1]])
    np.testing.assert_allclose(found.layers[0].prior_state, learned, rtol=1e-10)
    assert np.abs(learned - np.array(layer.prior_state)).max() > 0.1
