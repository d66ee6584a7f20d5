"""The classification output factor."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr

from oracles import loops
from tdamp.factors.likelihoods import probit
from tdamp.factors.likelihoods.probit import Probit
from tdamp.numerics.beliefs import Moments

score = jax.jit(Probit().score)


def random_scores(n_classes: int, n_rows: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, variances 1e-3..1e3 and labels."""
    rng = np.random.default_rng(seed)
    var = 10.0 ** rng.uniform(-3, 3, (n_rows, n_classes))
    return rng.normal(size=var.shape) * 3, var, rng.integers(0, n_classes, n_rows)


def test_two_classes_are_exact() -> None:
    """autodiff: for two classes score and score_prec are the derivatives of the log-partition."""
    mean, var, label = random_scores(2)
    noise_var = 10.0 ** np.linspace(-3, 3, len(label))

    def log_partition(m: jax.Array, v: jax.Array, y: jax.Array, noise: jax.Array) -> jax.Array:
        return Probit().log_partition(Moments(m, v), y, noise)

    first = jax.jit(jax.vmap(jax.grad(log_partition)))(mean, var, label, noise_var)
    hess = jax.jit(jax.vmap(jax.jacfwd(jax.grad(log_partition))))(mean, var, label, noise_var)
    ours, ours_prec = score(Moments(mean, var), label, noise_var[:, None])
    np.testing.assert_allclose(ours, first, rtol=1e-10)
    np.testing.assert_allclose(ours_prec, -np.diagonal(hess, axis1=1, axis2=2), rtol=1e-9)


def test_two_classes_by_double_integral() -> None:
    """quadrature: evidence and moments of both scores on a grid of (z_0, z_1)."""
    t = np.linspace(-9, 9, 721)
    base = np.exp(-0.5 * (t[:, None] ** 2 + t[None, :] ** 2)) * (t[1] - t[0]) ** 2 / (2 * np.pi)
    for mean, var, label, noise_var in [((0.3, -0.5), (1.0, 0.2), 0, 0.5), ((2.0, -1.0), (0.4, 3.0), 1, 0.05)]:
        z = [mean[0] + np.sqrt(var[0]) * t[:, None], mean[1] + np.sqrt(var[1]) * t[None, :]]
        weight = base * np.exp(log_ndtr((z[label] - z[1 - label]) / np.sqrt(noise_var)))
        mass = weight.sum()
        z_fwd = Moments(jnp.array([mean]), jnp.array([var]))
        ours, ours_prec = Probit().score(z_fwd, jnp.array([label]), noise_var)
        np.testing.assert_allclose(Probit().log_partition(z_fwd, jnp.array([label]), noise_var), np.log(mass))
        for m in range(2):
            z_mean = (weight * z[m]).sum() / mass
            z_var = (weight * (z[m] - z_mean) ** 2).sum() / mass
            np.testing.assert_allclose(ours[0, m], (z_mean - mean[m]) / var[m], rtol=1e-6)
            np.testing.assert_allclose(ours_prec[0, m], (1 - z_var / var[m]) / var[m], rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_site_formulas(n_classes: int) -> None:
    """twin: the literal class-by-class transcription of the EP sweep in float64."""
    mean, var, label = random_scores(n_classes, seed=1)
    mean = mean * 0.7
    ours, ours_prec = score(Moments(mean, var), label, 0.8)
    for i in range(len(label)):
        s, v_s = loops.probit_score(mean[i], var[i], label[i], 0.8)
        np.testing.assert_allclose(ours[i], s, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(ours_prec[i], v_s, rtol=1e-6, atol=1e-12)


def test_three_classes_are_close_to_exact() -> None:
    """quadrature: one EP sweep is within 8 % of a standard deviation and 12 % of a precision for three classes.

    The tolerance is the method's error, not rounding; it vanishes as the rivals' overlap does.
    """
    rng = np.random.default_rng(2)
    mean, var, label = rng.normal(size=(60, 3)), 10.0 ** rng.uniform(-1, 0.5, (60, 3)), rng.integers(0, 3, 60)
    ours, ours_prec = (np.asarray(x) for x in score(Moments(mean, var), label, 0.5))
    exact = [loops.probit_exact(mean[i], var[i], label[i], 0.5) for i in range(60)]
    s, v_s = np.array([e[1] for e in exact]), np.array([e[2] for e in exact])
    error, error_prec = np.abs(ours - s) * np.sqrt(var), np.abs(ours_prec - v_s) * var
    assert error.max() < 0.08, error.max()
    assert error_prec.max() < 0.12, error_prec.max()
    # and the sweep matters: pairwise derivatives, as if the rivals did not share z_y, are off by much more
    pairwise = jax.vmap(jax.grad(lambda m, v, y: Probit().log_partition(Moments(m, v), y, 0.5)))(mean, var, label)
    assert np.mean(np.abs(pairwise - s) * np.sqrt(var)) > 3 * error.mean()


def test_permuting_classes_permutes_results(dtype: str) -> None:
    """identity: classes have no order. (A margin of 12 sd, rounded, tells its density of 1e-35 to 1e-5 only.)"""
    mean, var, label = random_scores(5, seed=3)
    order = np.array([3, 0, 4, 1, 2])
    place = np.argsort(order)
    args = Moments(mean.astype(dtype), var.astype(dtype))
    ours = score(args, label, jnp.asarray(0.3, dtype))
    moved = score(Moments(args.mean[:, order], args.var[:, order]), place[label], jnp.asarray(0.3, dtype))
    for a, b in zip(ours, moved, strict=True):
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(np.asarray(a)[:, order], b, rtol=tolerance, atol=tolerance * 1e-20)


def test_margins() -> None:
    """twin: margin z_m - z_y of every rival of two independent scores."""
    mean, var, label = random_scores(4, seed=4)
    margin, rival = probit.margins(Moments(mean, var), label)
    for i in range(len(label)):
        for m in range(4):
            assert rival[i, m] == (m != label[i])
            if m != label[i]:
                np.testing.assert_allclose(margin.mean[i, m], mean[i, m] - mean[i, label[i]], rtol=1e-14)
                np.testing.assert_allclose(margin.var[i, m], var[i, m] + var[i, label[i]], rtol=1e-14)


@given(st.lists(st.tuples(*[st.floats(-6, 6, width=16)] * 2), min_size=32, max_size=32), st.floats(-6, 6, width=16))
def test_always_proper(raw: list[tuple[float, float]], log_noise: float) -> None:
    """contract: in float32 0 <= score_prec <= 1 / var and all finite, over 12 decades and margins of 200 sds."""
    a = np.array(raw, np.float64)
    var = (10.0 ** a[:, 0]).astype(np.float32).reshape(4, 8)
    mean = ((a[:, 1] ** 3).reshape(4, 8) * np.sqrt(var)).astype(np.float32)
    ours, ours_prec = score(Moments(mean, var), np.arange(4), np.float32(10.0**log_noise))
    assert np.all(np.isfinite(np.asarray(ours)))
    ratio = np.asarray(ours_prec, np.float64) * var
    assert np.all((ratio >= 0) & (ratio <= 1 + 1e-6))
