"""Counts: y is Poisson with rate exp(z).

Density: exp(y z - exp(z)) / y!. Not in the paper. The tilted density of z is log-concave, so its mode is found by
Newton's method (a Lambert W) and the integral is a sum over Gauss-Legendre nodes whose range follows from the
curvature: to the
right it falls at least as fast as a Gaussian of the mode's width, to the left as one of z's own. Exact to quadrature.
There is no noise to learn: `noise_var` is carried along and means nothing. Oracle: quadrature, autodiff of
`log_partition`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy import stats

from ...numerics.beliefs import Moments, Score
from ...numerics.distribution import Distribution
from .base import Likelihood, OutputStart, check_numbers

NEWTON = 12
"""Steps to the mode: the function is convex and the start lies to its right, so that none oversteps."""
REACH = 8.0
"""Standard deviations to either side of the mode; what lies beyond is below 1e-14."""
LEFT, RIGHT, NODES = 6, 4, 12
"""Panels to either side of the mode, each with so many nodes; their edges grow geometrically from the mode."""
NOTHING = 45.0
"""Where the log density has fallen by this, nothing is left."""
MAX_LOG_RATE = 40.0
"""A predicted rate is held below exp(MAX_LOG_RATE): its square stays inside float32."""
MIN_MEAN = 0.5
"""The logarithm of a mean count starts no lower than that of this."""


class Poisson(Likelihood):
    """Poisson(y; exp(z)), one output for each target."""

    name = "poisson"
    task = "regression"
    noise = "none"
    log_concave = False  # it is, but the quadrature rounds: the clip is counted
    scales_targets = False

    def check_y(self, y: np.ndarray, n_targets: int, dtype: Any) -> np.ndarray:
        """(rows, targets) of counts 0, 1, 2, ..."""
        y = check_numbers(y, n_targets)
        if (y < 0).any() or (y != np.floor(y)).any():
            raise ValueError("y has numbers that are no counts: likelihood='poisson' expects 0, 1, 2, ...")
        return y.astype(dtype)

    def target_var(self, y: np.ndarray, y_mean: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Logs of rates have no unit."""
        return np.ones_like(y_mean)

    def output_start(self, y_mean: np.ndarray, y_var: np.ndarray, n_outputs: int) -> OutputStart:
        """Biases at the logs of the mean counts."""
        log_mean = np.log(np.maximum(y_mean, MIN_MEAN))
        return OutputStart(1.0, log_mean, float(1 + np.square(log_mean).mean()), n_outputs)

    def log_partition(self, z_fwd: Moments, y: Array, noise_var: Array) -> Array:
        """log of the integral of N(z; z_fwd) exp(y z - exp(z)) / y!, (rows, targets)."""
        at = _tilted(z_fwd, y)
        shift = at.mode - z_fwd.mean
        peak = y * at.mode - at.rate - jax.scipy.special.gammaln(y + 1) - 0.5 * shift**2 / z_fwd.var
        return peak + at.log_mass - 0.5 * jnp.log(2 * jnp.pi * z_fwd.var)

    def score(self, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
        """Score and score_prec of z: from the likelihood's derivatives where z is narrow, else from its moments."""
        at = _tilted(z_fwd, y)
        rate = at.rate * (at.share * jnp.exp(at.offset)).sum(-1)
        rate_var = at.rate**2 * (at.share * jnp.exp(2 * at.offset)).sum(-1) - rate**2
        mean = (at.share * at.offset).sum(-1)
        var = (at.share * (at.offset - mean[..., None]) ** 2).sum(-1)
        narrow = (z_fwd.var < 1) & (z_fwd.var * at.rate < 1)
        score = jnp.where(narrow, y - rate, (at.mode - z_fwd.mean + mean) / z_fwd.var)
        return Score(score, jnp.where(narrow, rate - rate_var, (1 - var / z_fwd.var) / z_fwd.var))

    def predictive(self, z: Moments, noise_var: Array) -> Distribution:
        """Moments of the count: a log-normal rate, and Poisson noise of the same mean."""
        log_mean = jnp.minimum(z.mean + 0.5 * z.var, MAX_LOG_RATE)
        mean = jnp.exp(log_mean)
        return Distribution.from_vars(mean, mean**2 * jnp.expm1(jnp.minimum(z.var, MAX_LOG_RATE)), mean)

    def quantile(self, z: Moments, noise_var: Any, level: float) -> np.ndarray:
        """The smallest count that holds this probability, on the host."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(2 * NODES)
        points = np.asarray(z.mean, np.float64)[..., None] + np.sqrt(np.asarray(z.var, np.float64))[..., None] * nodes
        rates = np.exp(np.minimum(points, MAX_LOG_RATE))
        low, high = np.zeros(rates.shape[:-1]), stats.poisson.ppf(level, rates.max(-1))
        while (low < high).any():
            middle = np.floor((low + high) / 2)
            holds = (stats.poisson.cdf(middle[..., None], rates) @ weights) / weights.sum() >= level
            low, high = np.where(holds, low, np.minimum(middle + 1, high)), np.where(holds, middle, high)
        return high


class _Tilted(NamedTuple):
    """N(z) exp(y z - exp(z)) about its mode, with a last axis of nodes."""

    mode: Array
    rate: Array  # exp(mode)
    offset: Array  # of each node from the mode
    share: Array  # of each node in the mass
    log_mass: Array  # relative to the density at the mode


def _tilted(z_fwd: Moments, y: Array) -> _Tilted:
    mean, var = z_fwd
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
    return _Tilted(mode, rate, offset, jnp.exp(log_share - log_mass[..., None]), log_mass)


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
