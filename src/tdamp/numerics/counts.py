"""Counts whose rate is log-normal: y is Poisson with rate exp(z), z is Gaussian.

Density: integral of N(z; mean, var) exp(y z - exp(z)) / y! dz. The tilted density of z is log-concave, so its mode is
found by Newton's method (a Lambert W) and the integral is a sum over Gauss-Legendre nodes whose range follows from the
curvature: to the right it falls at least as fast as a Gaussian of the mode's width, to the left as one of z's own.
The distribution function is E P(G > exp(z)) with G of the gamma distribution of shape y + 1, and so also
E Phi((log G - mean) / std): the expectation is taken over the narrower of z and log G, on which the other depends
smoothly. Exact to quadrature. Oracle: quadrature on dense grids, enumeration, autodiff of `log_prob`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.special import gammaincc, ndtr, ndtri
from scipy.stats import poisson

NEWTON = 12
"""Steps to the mode: the function is convex and the start lies to its right, so that none oversteps."""
REACH = 8.0
"""Standard deviations to either side of the mode; what lies beyond is below 1e-14."""
LEFT, RIGHT, NODES = 6, 4, 12
"""Panels to either side of the mode, each with so many nodes; their edges grow geometrically from the mode."""
NOTHING = 45.0
"""Where the log density has fallen by this, nothing is left."""
MAX_LOG_RATE = 40.0
"""A rate is held below exp(MAX_LOG_RATE): its square stays inside float32."""
HERMITE, GRID = 32, 128
"""Nodes of the expectations over z and over log G."""
AT_ONCE = 2**15
"""Counts whose probabilities are computed together."""
BISECTIONS = 64
"""More than enough for whole numbers below exp(MAX_LOG_RATE)."""


class Tilted(NamedTuple):
    """N(z) exp(y z - exp(z)) about its mode, with a last axis of nodes."""

    mode: Array
    rate: Array  # exp(mode)
    offset: Array  # of each node from the mode
    share: Array  # of each node in the mass
    log_mass: Array  # relative to the density at the mode


def log_prob(y: Array, mean: Array, var: Array) -> Array:
    """Log probability of y, in JAX; the variance is positive."""
    at = tilted(y, mean, var)
    peak = y * at.mode - at.rate - jax.scipy.special.gammaln(y + 1) - 0.5 * (at.mode - mean) ** 2 / var
    return peak + at.log_mass - 0.5 * jnp.log(2 * jnp.pi * var)


def cdf(y: Any, mean: Any, var: Any) -> np.ndarray:
    """P(a count of at most y), on the host."""
    y, mean, var = (np.asarray(a, np.float64) for a in np.broadcast_arrays(y, mean, var))
    flat = [a.ravel() for a in (np.floor(y), mean, var)]
    parts = [_cdf(*(a[at : at + AT_ONCE] for a in flat)) for at in range(0, max(y.size, 1), AT_ONCE)]
    return np.concatenate(parts).reshape(y.shape)


def quantile(level: float, mean: Any, var: Any) -> np.ndarray:
    """The least count y with P(a count of at most y) >= level, on the host.

    It lies between the count that a rate and its Poisson number, both improbably low, would give, and the like above:
    each of the two may fail with half the probability.
    """
    shape = np.broadcast_shapes(np.shape(mean), np.shape(var))
    mean, var = (np.broadcast_to(np.asarray(a, np.float64), shape).ravel() for a in (mean, var))
    low, high = (
        poisson.ppf(part, np.exp(np.minimum(mean + np.sqrt(var) * ndtri(part), MAX_LOG_RATE)))
        for part in (0.5 * level, 0.5 + 0.5 * level)
    )
    for _ in range(BISECTIONS):
        at = low < high
        if not at.any():
            break
        middle = np.floor(0.5 * (low[at] + high[at]))
        reached = cdf(middle, mean[at], var[at]) >= level
        low[at], high[at] = np.where(reached, low[at], middle + 1), np.where(reached, middle, high[at])
    return high.reshape(shape)


def tilted(y: Array, mean: Array, var: Array) -> Tilted:
    """The integrand of `log_prob` about its mode."""
    log_w = _log_lambert(jnp.log(var) + mean + var * y)  # of w = var exp(mode)
    mode = log_w - jnp.log(var)
    rate = jnp.maximum(jnp.exp(mode), jnp.finfo(mean.dtype).tiny)
    width = jnp.sqrt(var / (1 + jnp.exp(log_w)))
    # exp(d) - 1 - d is at least d^2 / 2, and from 1.3 on half of exp(d) - 1
    right = jnp.minimum(jnp.sqrt(2 * NOTHING / rate), jnp.maximum(jnp.log1p(2 * NOTHING / rate), 1.3))
    right = jnp.minimum(REACH * width, right)
    edges = [*reversed(_edges(width, REACH * jnp.sqrt(var), LEFT)), jnp.zeros_like(width)]
    edges = [-edge for edge in edges] + _edges(width, right, RIGHT)
    places, weights = np.polynomial.legendre.leggauss(NODES)
    half = [0.5 * (b - a)[..., None] for a, b in pairwise(edges)]
    middle = [0.5 * (a + b)[..., None] for a, b in pairwise(edges)]
    offset = jnp.concatenate([m + h * jnp.asarray(places, mean.dtype) for m, h in zip(middle, half, strict=True)], -1)
    log_weight = jnp.concatenate([jnp.log(h * jnp.asarray(weights, mean.dtype)) for h in half], -1)
    # at the mode y - exp(mode) = (mode - mean) / var, so that the log density falls by this, without cancellation
    fall = rate[..., None] * _expm1_less(offset) + 0.5 * offset**2 / var[..., None]
    log_share = log_weight - fall
    log_mass = jax.nn.logsumexp(log_share, -1)
    return Tilted(mode, rate, offset, jnp.exp(log_share - log_mass[..., None]), log_mass)


def _cdf(y: np.ndarray, mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    shape = np.maximum(y, 0) + 1
    narrow = var * shape < 1
    prob = np.empty(len(y))
    for at, expectation in ((narrow, _over_z), (~narrow, _over_log_gamma)):
        prob[at] = expectation(shape[at, None], mean[at, None], np.sqrt(var[at, None]))
    return np.where(y < 0, 0.0, prob)


def _over_z(shape: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """E P(G > exp(z)) by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(HERMITE)
    return gammaincc(shape, np.exp(mean + std * nodes)) @ weights / weights.sum()


def _over_log_gamma(shape: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """E Phi((log G - mean) / std) by the trapezoidal rule between points where the log density has fallen by NOTHING.

    It falls by shape (exp(d) - 1 - d) at the distance d from its mode: at least d^2 / 2 times the shape to the right,
    d^2 / (2 + |d|) times to the left.
    """
    fallen = NOTHING / shape
    right, left = np.sqrt(2 * fallen), 0.5 * (fallen + np.sqrt(fallen**2 + 8 * fallen))
    d = -left + (left + right) * np.linspace(0, 1, GRID)
    weight = np.exp(shape * (d - np.expm1(d)))
    return (ndtr((np.log(shape) + d - mean) / std) * weight).sum(-1) / weight.sum(-1)


def _edges(width: Array, end: Array, count: int) -> list[Array]:
    """Distances from the mode: the density's own scale, twice its width or two, then geometrically to the `end`."""
    first = jnp.minimum(2 * jnp.minimum(width, 1.0), 0.5 * end)
    return [first * (end / first) ** (k / (count - 1)) for k in range(count)]


def _log_lambert(log_x: Array) -> Array:
    """u with u + exp(u) = log_x: the log of Lambert's W of exp(log_x)."""
    u = jnp.where(log_x > 1, jnp.log(jnp.maximum(log_x, 1)), log_x)

    def step(_: int, u: Array) -> Array:
        w = jnp.exp(u)
        return u - (u + w - log_x) / (1 + w)

    return jax.lax.fori_loop(0, NEWTON, step, u)


def _expm1_less(d: Array) -> Array:
    """exp(d) - 1 - d, by its series near zero."""
    near = jnp.abs(d) < 0.1
    small = jnp.where(near, d, 0)
    series = small**2 * (0.5 + small * (1 / 6 + small * (1 / 24 + small / 120)))
    return jnp.where(near, series, jnp.expm1(jnp.where(near, 0, d)) - d)
