"""The regression output factor."""

from __future__ import annotations

import jax
import numpy as np

from oracles import quadrature
from tdamp.factors.likelihoods.gaussian import Gaussian
from tdamp.numerics.beliefs import Moments

RNG = np.random.default_rng(5)
VAR = 10.0 ** RNG.uniform(-6, 6, 100)
MEAN = RNG.uniform(-8, 8, 100) * np.sqrt(VAR)
NOISE_VAR = 10.0 ** RNG.uniform(-3, 3, 100) * VAR
Y = MEAN + RNG.uniform(-5, 5, 100) * np.sqrt(VAR + NOISE_VAR)


def test_log_partition() -> None:
    """quadrature: log of the integral of N(z; mean, var) N(y; z, noise_var), and z's moments by the score."""
    # N(y; z, v) is the message shift = y / v, prec = 1 / v, less its value at z = 0; taken about y for accuracy
    exact = quadrature.tilted(*quadrature.REFERENCE["identity"], MEAN - Y, VAR, np.zeros_like(Y), 1 / NOISE_VAR)
    evidence = exact.log_partition - 0.5 * np.log(2 * np.pi * NOISE_VAR)
    z_fwd = Moments(MEAN, VAR)
    np.testing.assert_allclose(Gaussian().log_partition(z_fwd, Y, NOISE_VAR), evidence.astype(float), rtol=1e-11)
    score, score_prec = Gaussian().score(z_fwd, Y, NOISE_VAR)
    np.testing.assert_allclose(VAR * score, exact.z_mean_shift.astype(float), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(VAR * (1 - VAR * score_prec), exact.z_var.astype(float), rtol=1e-9)


def test_score() -> None:
    """autodiff: score and score_prec are the derivatives of the log-partition in z's mean."""

    def log_partition(mean: jax.Array, var: jax.Array, y: jax.Array, noise_var: jax.Array) -> jax.Array:
        return Gaussian().log_partition(Moments(mean, var), y, noise_var)

    args = (MEAN, VAR, Y, NOISE_VAR)
    first = jax.vmap(jax.grad(log_partition))(*args)
    second = jax.vmap(jax.grad(jax.grad(log_partition)))(*args)
    score, score_prec = Gaussian().score(Moments(MEAN, VAR), Y, NOISE_VAR)
    np.testing.assert_allclose(score, first, rtol=1e-12)
    np.testing.assert_allclose(score_prec, -second, rtol=1e-12)


def test_outputs_do_not_mix(dtype: str) -> None:
    """twin: a batch with per-output noise equals its entries one by one."""
    mean, var, y = (x.reshape(25, 4).astype(dtype) for x in (MEAN, VAR, Y))
    noise_var = np.array([0.1, 1.0, 10.0, 1e4], dtype)
    whole = Gaussian().score(Moments(mean, var), y, noise_var)
    for i, m in [(0, 0), (7, 1), (24, 3)]:
        one = Gaussian().score(Moments(mean[i, m], var[i, m]), y[i, m], noise_var[m])
        assert [float(part[i, m]) for part in whole] == [float(part) for part in one]
