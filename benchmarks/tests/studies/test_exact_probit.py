"""The exact probit integral."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tdamp.factors.likelihoods.probit import Probit
from tdamp.numerics.beliefs import Moments
from tdamp_bench.studies import exact_probit


def log_evidence(mean, var, label, noise):
    """log of the integral over the label's score, by the trapezoidal rule on 20,001 points."""
    y_std = jnp.sqrt(var[label])
    t = jnp.linspace(-60, 60, 20_001)
    rest = jax.scipy.stats.norm.logcdf((t[:, None] - mean) / jnp.sqrt(noise + var))
    rest = jnp.where(jnp.arange(len(mean)) == label, 0, rest).sum(1)
    density = jax.scipy.stats.norm.logpdf(t, mean[label], y_std) + rest
    return jax.scipy.special.logsumexp(density) + jnp.log(t[1] - t[0])


@pytest.mark.parametrize("classes", [4, 10])
def test_exact_probit_moments(classes):
    """autodiff: mean + var d log Z and var + var^2 d2 log Z of the integral by the trapezoidal rule."""
    rng = np.random.default_rng(classes)
    with jax.enable_x64(True):
        mean, var = 2 * rng.standard_normal((3, classes)), 10 ** rng.uniform(-1, 1, (3, classes))
        label, noise = rng.integers(classes, size=3), np.asarray(0.5)
        result = jax.jit(exact_probit.posterior)(Moments(mean, var), label, noise)
        at = jnp.asarray(mean), jnp.asarray(var), jnp.asarray(label)
        first = jax.jit(jax.vmap(jax.grad(log_evidence), (0, 0, 0, None)))(*at, noise)
        second = jax.jit(jax.vmap(jax.hessian(log_evidence), (0, 0, 0, None)))(*at, noise)
        np.testing.assert_allclose(result.mean, mean + var * first, atol=1e-7)
        np.testing.assert_allclose(result.var, var + var**2 * jnp.diagonal(second, axis1=1, axis2=2), rtol=1e-7)


def test_exact_probit_score_of_two_classes():
    """twin: EP's sweep is exact for two classes; float32, as in training, a label far behind included."""
    mean = np.array([[0.0, 1.0], [-30.0, 0.0], [30.0, 0.0]], np.float32)
    z = Moments(jnp.asarray(mean), jnp.full((3, 2), 2.0, jnp.float32))
    label, noise = jnp.zeros(3, jnp.int32), jnp.asarray(0.3, jnp.float32)
    score, prec = jax.jit(exact_probit.score)(z, label, noise)
    true_score, true_prec = Probit().score(z, label, noise)
    np.testing.assert_allclose(score, true_score, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(prec, true_prec, rtol=1e-3, atol=1e-5)  # 1 - var / var: rounding over float32's 1e-7
