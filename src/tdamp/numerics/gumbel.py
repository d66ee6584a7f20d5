"""The minimum-Gumbel fit of the classification margins and its best noise variance F.

Paper: eq. (cls_v) and the special function F; erratum E4 (the Gumbel is the minimum one). F is computed by
quadrature when first needed and kept as a table of log F. Oracle: direct numerical argmax.
"""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

LOW, HIGH = -5.0, 0.3
"""Table range of gumbel_loc / gumbel_scale. Above it F diverges (an untrained network): clipped. Below it the
objective is flat to double precision and F follows its exponential law."""

_ASYMPTOTE = 1.098  # F(x) ~ 1.098 exp(2x) as x -> -inf
_STEPS = 1060
_FLOOR = 1e-12  # of F: a noise variance that cannot be told from zero in float32 sums


def best_noise_var_by_quadrature(loc: float) -> float:
    """F(loc) = argmax_v of the mean of log Phi(-margin / sqrt(v)) over a minimum Gumbel of scale one."""
    t = np.linspace(-36.0, 6.0, 5001)
    weight = np.exp(t - np.exp(t))
    margin = loc + t

    def loss(log_var: float) -> float:
        return -float(np.sum(weight * log_ndtr(-margin * np.exp(-0.5 * log_var))))

    guess = 2 * loc + 1
    minimum = minimize_scalar(loss, bounds=(guess - 4, guess + 9), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(minimum.x))


@cache
def _table() -> np.ndarray:
    """log F on an even grid of _STEPS intervals from LOW to HIGH: a spline through quadrature values."""
    nodes = np.concatenate([np.linspace(LOW, 0.0, 101)[:-1], np.linspace(0.0, HIGH, 31)])
    values = np.log([best_noise_var_by_quadrature(x) for x in nodes])
    return CubicSpline(nodes, values)(np.linspace(LOW, HIGH, _STEPS + 1))


def best_noise_var(ratio: Array) -> Array:
    """F(gumbel_loc / gumbel_scale), clipped above HIGH. An even grid needs no search, which would be a loop."""
    log_f = jnp.asarray(_table(), ratio.dtype)
    ratio = jnp.minimum(ratio, HIGH)
    place = jnp.clip((ratio - LOW) * (_STEPS / (HIGH - LOW)), 0, _STEPS)
    left = jnp.minimum(place.astype(jnp.int32), _STEPS - 1)
    inside = log_f[left] + (place - left) * (log_f[left + 1] - log_f[left])
    below = float(np.log(_ASYMPTOTE)) + 2 * ratio
    return jnp.maximum(jnp.exp(jnp.where(ratio < LOW, below, inside)), _FLOOR)


def fit(mean: Array, second_moment: Array) -> tuple[Array, Array]:
    """gumbel_loc and gumbel_scale of the minimum Gumbel with these moments of the margin."""
    var = jnp.maximum(second_moment - mean**2, 0)
    scale = jnp.sqrt(6 * var) / jnp.pi
    return mean + float(np.euler_gamma) * scale, scale
