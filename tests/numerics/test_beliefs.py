"""The evidence function, the tilted Gaussian and the spike-slab moments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import quadrature
from tdamp.numerics import beliefs
from tdamp.numerics.beliefs import Message, Moments

RNG = np.random.default_rng(0)
_var = 10.0 ** RNG.uniform(-6, 6, 200)
_sd = np.sqrt(_var)
MEAN = RNG.uniform(-8, 8, 200) * _sd
VAR = _var
PREC = np.where(RNG.random(200) < 0.2, 0.0, 10.0 ** RNG.uniform(-4, 4, 200) / VAR)
SHIFT = RNG.uniform(-6, 6, 200) * np.sqrt(PREC + 0.1 / VAR)


def test_gain_and_tilt() -> None:
    """quadrature: evidence and moments of N(x; mean, var) exp(shift x - prec x^2 / 2)."""
    exact = quadrature.tilted(*quadrature.REFERENCE["identity"], MEAN, VAR, SHIFT, PREC)
    belief, message = Moments(jnp.asarray(MEAN), jnp.asarray(VAR)), Message(jnp.asarray(SHIFT), jnp.asarray(PREC))
    gained, tilted = beliefs.gain(belief, message), beliefs.tilt(belief, message)
    np.testing.assert_allclose(gained, exact.log_partition.astype(float), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(tilted.var, exact.u_var.astype(float), rtol=1e-11)
    sd = np.sqrt(exact.u_var.astype(float))
    np.testing.assert_allclose(tilted.mean / sd, exact.u_mean.astype(float) / sd, rtol=1e-11, atol=1e-11)


def test_gain_gives_the_moments_of_tilt() -> None:
    """autodiff: d gain / d shift is the tilted mean, the second derivative the tilted variance."""

    def gain(shift: jax.Array, mean: jax.Array, var: jax.Array, prec: jax.Array) -> jax.Array:
        return beliefs.gain(Moments(mean, var), Message(shift, prec))

    first = jax.vmap(jax.grad(gain))(SHIFT, MEAN, VAR, PREC)
    second = jax.vmap(jax.grad(jax.grad(gain)))(SHIFT, MEAN, VAR, PREC)
    tilted = beliefs.tilt(Moments(MEAN, VAR), Message(SHIFT, PREC))
    np.testing.assert_allclose(first, tilted.mean, rtol=1e-11, atol=1e-11 * float(np.sqrt(VAR.max())))
    np.testing.assert_allclose(second, tilted.var, rtol=1e-11)


def test_gain_is_a_difference_of_log_norms() -> None:
    """identity: gain = log_norm(tilted belief) - log_norm(belief)."""
    prior = Moments(jnp.asarray(MEAN), jnp.asarray(VAR))
    message = Message(jnp.asarray(SHIFT), jnp.asarray(PREC))
    difference = beliefs.log_norm(beliefs.tilt(prior, message)) - beliefs.log_norm(prior)
    np.testing.assert_allclose(beliefs.gain(prior, message), difference, rtol=1e-10, atol=1e-9)


def test_log_norm() -> None:
    """quadrature: log of the integral of exp(shift x - prec x^2 / 2), less log sqrt(2 pi)."""
    prec = 10.0 ** np.linspace(-6, 6, 25)
    shift = np.linspace(-5, 5, 25) * np.sqrt(prec)
    # a flat Gaussian stands for dx: N(x; 0, v) sqrt(2 pi v) -> 1 as v grows, with error 1 / (2 v prec)
    v = 1e14 / prec
    flat = quadrature.tilted(*quadrature.REFERENCE["identity"], np.zeros(25), v, shift, prec)
    integral = flat.log_partition + 0.5 * np.log(v)
    np.testing.assert_allclose(
        beliefs.log_norm(beliefs.moments(Message(shift, prec))), integral.astype(float), atol=1e-11
    )


@pytest.mark.parametrize("active_prob", [0.0, 1e-7, 0.3, 1 - 1e-7, 1.0])
def test_thin(active_prob: float) -> None:
    """identity: moments of the two-part mixture, spike and slab."""
    mean, var = np.array([0.0, -3.0, 1e4]), np.array([2.0, 0.5, 1e-6])
    mixed_mean = active_prob * mean
    mixed_var = active_prob * (var + (mean - mixed_mean) ** 2) + (1 - active_prob) * mixed_mean**2
    ours = beliefs.thin(Moments(mean, var), active_prob)
    np.testing.assert_allclose(ours.mean, mixed_mean, rtol=1e-15)
    np.testing.assert_allclose(ours.var, mixed_var, rtol=1e-14)
    assert np.all(ours.var >= 0)


def test_thin_does_not_cancel() -> None:
    """identity: E[x^2] - E[x]^2 is wrong in float32 for a sure group of large mean; ours is the slab's variance."""
    slab, sure = Moments(np.float32(1e4), np.float32(1e-2)), np.float32(1)
    naive = sure * (slab.var + slab.mean**2) - (sure * slab.mean) ** 2
    assert abs(naive - slab.var) > 0.5 * slab.var
    np.testing.assert_allclose(beliefs.thin(slab, sure).var, slab.var, rtol=1e-6)


@pytest.mark.parametrize("sds", [0.0, 1.0, 1e2, 1e4])
def test_gain_in_float32(sds: float) -> None:
    """twin: float32 against float64 over means of 1e4 sds and variances 1e-12..1e12.

    The gain is a difference of quadratic terms of size mean^2 / var: its rounding is judged on that scale.
    """
    var = np.float32(10.0) ** np.arange(-12, 13, dtype=np.float32)
    grid = [a.ravel() for a in np.meshgrid(var, 10.0 ** np.arange(-8, 9.0, 2), [-1.0, 1.0], [-3.0, 0.0, 3.0])]
    var = grid[0].astype(np.float32)
    prec = (grid[1] / grid[0]).astype(np.float32)
    mean = (sds * grid[2] * np.sqrt(grid[0])).astype(np.float32)
    shift = (grid[3] * np.sqrt(grid[1] / grid[0])).astype(np.float32)
    single = np.asarray(beliefs.gain(Moments(mean, var), Message(shift, prec)))
    mean, var, shift, prec = (x.astype(np.float64) for x in (mean, var, shift, prec))
    double = np.asarray(beliefs.gain(Moments(mean, var), Message(shift, prec)))
    assert single.dtype == np.float32
    assert np.all(np.isfinite(single))
    shrink = 1 + var * prec
    scale = (prec * mean**2 + np.abs(shift * mean)) / shrink + var * shift**2 / shrink + np.log1p(var * prec)
    assert np.all(np.abs(single - double) <= 1e-6 * scale)


def test_flat_message_changes_nothing(dtype: str) -> None:
    """identity: the zero message gains no evidence and tilts nothing, bit for bit."""
    belief = Moments(jnp.asarray([-3.0, 0.0, 1e4], dtype), jnp.asarray([1e-12, 1.0, 1e12], dtype))
    nothing = beliefs.flat((3,), jnp.dtype(dtype))
    assert np.array_equal(beliefs.gain(belief, nothing), np.zeros(3))
    assert np.array_equal(beliefs.tilt(belief, nothing), belief)
    assert beliefs.tilt(belief, None) is belief


def test_moments_of_a_message() -> None:
    """identity: mean / var and 1 / var are the natural parameters of N(mean, var)."""
    back = beliefs.moments(Message(MEAN / VAR, 1 / VAR))
    np.testing.assert_allclose(back.mean, MEAN, rtol=1e-14)
    np.testing.assert_allclose(back.var, VAR, rtol=1e-14)
    np.testing.assert_allclose(beliefs.natural(back), (MEAN / VAR, 1 / VAR), rtol=1e-14)
