"""The output of counts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from tdamp.factors.likelihoods.poisson import MIN_MEAN, Poisson
from tdamp.numerics.beliefs import Moments
from tdamp.numerics.counts import MAX_LOG_RATE
from tdamp.numerics.distribution import CountDistribution

RNG = np.random.default_rng(5)
N = 60
MEAN, VAR = RNG.uniform(-4, 6, N), 10.0 ** RNG.uniform(-6, 1, N)
RATE = np.exp(np.minimum(MEAN + np.sqrt(VAR) * RNG.normal(size=N), 9))
Y = RNG.poisson(RATE).astype(np.float64)
Z = Moments(MEAN[:, None], VAR[:, None])
NOISE = np.ones(1)


def tilted(mean: float, var: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """z on 40,001 points that hold the mass of N(z; mean, var) Poisson(y; exp(z)), and the log of the product there."""
    ends = [mean - 14 * np.sqrt(var), mean + 14 * np.sqrt(var)]
    for _ in range(2):
        z = np.linspace(*ends, 40_001)
        log_density = stats.norm.logpdf(z, mean, np.sqrt(var)) + y * z - np.exp(z) - special.gammaln(y + 1)
        there = z[log_density > log_density.max() - 60]
        ends = [there[0], there[-1]]
    return z, log_density


def test_log_partition_and_moments() -> None:
    """quadrature: the trapezoidal rule on dense grids; the score's mean and variance of z are the posterior's."""
    log_partition, (score, prec) = Poisson().log_partition(Z, Y[:, None], NOISE), Poisson().score(Z, Y[:, None], NOISE)
    for i in range(N):
        z, log_density = tilted(MEAN[i], VAR[i], Y[i])
        density = np.exp(log_density - log_density.max())
        mass = np.trapezoid(density, z)
        np.testing.assert_allclose(log_partition[i, 0], np.log(mass) + log_density.max(), atol=1e-7)  # gammaln's digits
        shift = np.trapezoid(density * (z - MEAN[i]), z) / mass
        var = np.trapezoid(density * (z - MEAN[i] - shift) ** 2, z) / mass
        np.testing.assert_allclose(VAR[i] * score[i, 0], shift, atol=1e-8 * np.sqrt(var))
        np.testing.assert_allclose(VAR[i] * (1 - VAR[i] * prec[i, 0]), var, rtol=1e-7)


def test_score() -> None:
    """autodiff: score and score_prec are the derivatives of the log-partition in z's mean, narrow and wide."""

    def log_partition(mean: jax.Array, var: jax.Array, y: jax.Array) -> jax.Array:
        return Poisson().log_partition(Moments(mean, var), y, jnp.ones(()))

    args = tuple(map(jnp.asarray, (MEAN, VAR, Y)))
    first, second = (jax.jit(jax.vmap(f))(*args) for f in (jax.grad(log_partition), jax.hessian(log_partition)))
    score, prec = Poisson().score(Moments(*args[:2]), args[2], NOISE)
    # derivatives of a sum at moving nodes lose digits where var is small: |d log Z| is then tiny beside its parts
    np.testing.assert_allclose(score, first, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(prec, -second, rtol=1e-4, atol=1e-4)
    assert (np.asarray(prec) >= 0).all() and (np.asarray(prec) * VAR <= 1 + 1e-9).all()


def test_a_known_rate() -> None:
    """twin: scipy's Poisson, where z has next to no variance: log probability, y - rate, and the rate as precision."""
    z = Moments(MEAN[:, None], np.full((N, 1), 1e-12))
    score, prec = Poisson().score(z, Y[:, None], NOISE)
    rate = np.exp(MEAN)
    expected = stats.poisson.logpmf(Y, rate)
    np.testing.assert_allclose(Poisson().log_partition(z, Y[:, None], NOISE)[:, 0], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(score[:, 0], Y - rate, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(prec[:, 0], rate, rtol=1e-6)


def test_targets() -> None:
    """contract: counts pass in the dtype asked for, as a column if they are one; what is no count is refused."""
    checked = Poisson().check_y(np.array([0, 3, 2]), 1, np.float32)
    assert checked.dtype == np.float32 and checked.tolist() == [[0], [3], [2]]
    for bad, message in (
        ([0.5, 1], "no counts"),
        ([-1, 1], "no counts"),
        ([np.inf, 1], "y"),
        ([[1, 2], [3, 4]], "expected"),
    ):
        with pytest.raises(ValueError, match=message):
            Poisson().check_y(np.array(bad), 1, np.float32)


def test_start() -> None:
    """identity: the biases begin at the logs of the mean counts, rare ones at that of MIN_MEAN; z has no unit."""
    y_mean = np.array([8.0, 0.01])
    start = Poisson().output_start(y_mean, np.ones(2), 2)
    np.testing.assert_allclose(np.exp(start.bias_mean), [8.0, MIN_MEAN])
    assert Poisson().target_var(np.array([[3.0, 1.0]]), y_mean, np.ones(1)).tolist() == [1, 1]


def test_there_is_no_noise_to_learn() -> None:
    """identity: of any counts the noise stays what it was, and adds nothing to the log of its mean."""
    likelihood, weight = Poisson(), np.ones(N)
    assert not likelihood.learns_noise
    for rule in ("em", "numerical", "fixed"):
        stats_ = likelihood.noise_stats(rule, Moments(*map(jnp.asarray, Z)), Y[:, None], weight, NOISE)
        assert float(stats_.weight) == N and not np.any(stats_.sums)
        np.testing.assert_array_equal(likelihood.noise_target(rule, stats_, NOISE), NOISE)
        assert likelihood.noise_log_bias(rule, Moments(*map(jnp.asarray, Z)), Y[:, None], weight) == 0


def test_predictive() -> None:
    """quadrature: moments of the rate by Gauss and Hermite; its probabilities are those of the log-partition."""
    result = Poisson().predictive(Z, NOISE)
    assert isinstance(result, CountDistribution)
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    some = VAR < 3  # at 100 nodes
    rate = np.exp(MEAN[some, None] + np.sqrt(VAR[some, None]) * nodes)
    share = weights / weights.sum()
    mean = rate @ share
    np.testing.assert_allclose(result.mean[some, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(result.aleatoric_var[some, 0], mean, rtol=1e-9)
    rate_var = ((rate - mean[:, None]) ** 2) @ share
    np.testing.assert_allclose(result.epistemic_var[some, 0], rate_var, rtol=1e-6)
    wide = VAR > 1e-5  # LEAST_LOG_VAR
    np.testing.assert_allclose(
        result.log_density(Y[:, None])[wide], Poisson().log_partition(Z, Y[:, None], NOISE)[wide], rtol=1e-5, atol=1e-5
    )


def test_rates_are_held() -> None:
    """contract: no log rate, however far off, makes a prediction that is not finite in float32."""
    mean = np.array([[-1e3], [0.0], [1e3]], np.float32)
    result = Poisson().predictive(Moments(jnp.asarray(mean), jnp.full((3, 1), 1e3, jnp.float32)), jnp.ones(1))
    assert all(bool(jnp.isfinite(part).all()) for part in (result.mean, result.std))
    np.testing.assert_allclose(result.mean[2], np.exp(MAX_LOG_RATE), rtol=1e-5)
