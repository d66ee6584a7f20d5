"""The regression output whose noise depends on the input."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate, stats

from tdamp.factors.likelihoods import heteroscedastic
from tdamp.factors.likelihoods.gaussian import Gaussian
from tdamp.factors.likelihoods.heteroscedastic import Heteroscedastic
from tdamp.numerics.beliefs import Moments

RNG = np.random.default_rng(5)
N = 60
Z_VAR = 10.0 ** RNG.uniform(-3, 2, N)
NOISE_VAR = np.array([0.7])
H_MEAN, H_VAR = RNG.uniform(-2, 2, N), 10.0 ** RNG.uniform(-4, 0, N)
Z_MEAN = RNG.normal(size=N)
Y = (Z_MEAN + RNG.uniform(-4, 4, N) * np.sqrt(Z_VAR + 0.7 * np.exp(H_MEAN)))[:, None]
Z = Moments(np.stack([Z_MEAN, H_MEAN], 1), np.stack([Z_VAR, H_VAR], 1))


def test_log_partition() -> None:
    """quadrature: N(y; z, noise exp(h)) over h by adaptive quadrature, over z in closed form."""
    actual = Heteroscedastic().log_partition(Z, Y, NOISE_VAR)[:, 0]
    for i in range(N):
        h = stats.norm(H_MEAN[i], np.sqrt(H_VAR[i]))

        def density(t: float, i: int = i, h: object = h) -> float:
            return h.pdf(t) * stats.norm.pdf(Y[i, 0], Z_MEAN[i], np.sqrt(Z_VAR[i] + 0.7 * np.exp(t)))

        exact = integrate.quad(density, h.mean() - 12 * h.std(), h.mean() + 12 * h.std(), points=[h.mean()], limit=200)
        np.testing.assert_allclose(actual[i], np.log(exact[0]), atol=2e-4)


def test_score_of_the_log_noise() -> None:
    """autodiff: the derivatives of the log-partition in the mean of h."""

    def log_partition(h: jax.Array, i: int) -> jax.Array:
        z = Moments(jnp.array([Z_MEAN[i], 0.0]) + h * jnp.array([0.0, 1.0]), jnp.array(Z.var[i]))
        return Heteroscedastic().log_partition(z, jnp.array(Y[i]), NOISE_VAR)[0]

    score, prec = Heteroscedastic().score(Z, Y, NOISE_VAR)
    for i in range(N):
        first = jax.grad(log_partition)(H_MEAN[i], i)
        second = jax.grad(jax.grad(log_partition))(H_MEAN[i], i)
        np.testing.assert_allclose([score[i, 1], prec[i, 1]], [first, -second], rtol=1e-6, atol=1e-9)


def test_score_of_the_mean_is_that_of_a_constant_noise() -> None:
    """twin: gaussian_output at the mean noise, which keeps rows of little noise from taking the network over."""
    score, prec = Heteroscedastic().score(Z, Y, NOISE_VAR)
    expected = Gaussian().score(Moments(Z.mean[:, :1], Z.var[:, :1]), Y, NOISE_VAR)
    np.testing.assert_allclose(score[:, :1], expected[0], rtol=1e-12)
    np.testing.assert_allclose(prec[:, :1], expected[1], rtol=1e-12)


def test_mean_noise() -> None:
    """calibration: the mean of a log-normal number over a million draws."""
    draws = 0.7 * np.exp(H_MEAN[:5] + np.sqrt(H_VAR[:5]) * RNG.normal(size=(10**6, 5)))
    result = np.asarray(heteroscedastic.mean_noise(Z, NOISE_VAR))[:5, 0]
    assert (np.abs(draws.mean(0) - result) < 5 * draws.std(0) / 1000).all()


def test_huge_numbers_stay_finite() -> None:
    """contract: a logarithm of the noise far outside its range, in float32, gives neither NaN nor infinity."""
    mean = np.array([[0.0, 1e4], [0.0, -1e4], [1e4, 0.0]], np.float32)
    z = Moments(mean, np.full((3, 2), 1e3, np.float32))
    for part in Heteroscedastic().score(z, np.zeros((3, 1), np.float32), np.ones(1, np.float32)):
        assert np.isfinite(part).all()
