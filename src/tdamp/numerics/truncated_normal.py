"""Numerics: the truncated standard normal, right to the last digits in float32 and float64.

Everything follows from one function, the gap k(x) = hazard(x) - x of the upper tail (x >= 0), and
from the variance of that tail. Both are smooth on the compactified half line, so each is one
Chebyshev series: no cancellation, no branch, no 0/0 (`pdf / cdf` is NaN in float32 from 15 sd on).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from numpy.polynomial import chebyshev, legendre
from scipy.special import erfcx

LOG_SQRT_2PI = 0.9189385332046727
INV_SQRT_2PI = 0.3989422804014327
MAX_SDS = 1e9
"""Standardised bounds are clipped here, so that their squares stay finite in float32."""

_CENTRE = 2.5  # x = _CENTRE is the middle of the compactified half line
_DEGREE = {4: 12, 8: 30}  # by item size: the shortest series that reaches the type's precision
_NODES = 40  # Gauss-Legendre nodes for two-sided truncation
_TAIL_NATS = 40.0  # density below exp(-40) of its peak is not integrated


class Tail(NamedTuple):
    """The standard normal beyond x >= 0: pdf(x), its mass, its mean's distance from x, and its variance."""

    pdf: Array
    mass: Array
    gap: Array
    var: Array


class Truncated(NamedTuple):
    """A standard normal cut to an interval.

    `gap` is the mean's distance from the bound (the lower one of two) and `shrink` is 1 - var; both are
    given because each is tiny somewhere, where the difference would have no correct digit left. Where `is_tail`,
    zero lies outside the interval and mass = exp(-bound^2 / 2) scaled for the nearer bound; else mass = scaled.
    """

    log_mass: Array
    mass: Array
    mean: Array
    gap: Array
    var: Array
    shrink: Array
    is_tail: Array
    scaled: Array


def _tail_reference(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gap k(x) and variance of the upper tail, in float64, by continued fraction (direct for x < 1)."""
    t = np.zeros_like(x)
    for j in range(2000, 1, -1):
        t = j / (x + t)
    by_fraction = 1 / (x + t)
    direct = 1 / (np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2))) - x
    near = x < 1
    gap = np.where(near, direct, by_fraction)
    var = np.where(near, 1 - (x + direct) * direct, by_fraction * (t - by_fraction))
    return gap, var


def _series(degree: int) -> tuple[list[float], list[float]]:
    """Chebyshev coefficients, in y = (x - c)/(x + c), of (x + c) k(x) and (x + c)^2 var(x)."""
    n = 200
    y = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    x = _CENTRE * (1 + y) / (1 - y)
    gap, var = _tail_reference(x)
    gap_series = chebyshev.chebfit(y, (x + _CENTRE) * gap, 60)[: degree + 1]
    var_series = chebyshev.chebfit(y, (x + _CENTRE) ** 2 * var, 60)[: degree + 1]
    return chebyshev.cheb2poly(gap_series).tolist(), chebyshev.cheb2poly(var_series).tolist()


_SERIES = {size: _series(degree) for size, degree in _DEGREE.items()}


def _horner(coefficients: list[float], y: Array) -> Array:
    total = jnp.full_like(y, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * y + c
    return total


def tail(x: Array) -> Tail:
    """The tail beyond x >= 0.

    Every result ends in a division: XLA computes what is expensive once, but would repeat a series for every use.
    """
    far = x + _CENTRE
    y = (x - _CENTRE) / far
    gap_series, var_series = _SERIES[x.dtype.itemsize]
    gap = _horner(gap_series, y) / far
    pdf = INV_SQRT_2PI * jnp.exp(-0.5 * x * x)
    return Tail(pdf, pdf / (x + gap), gap, _horner(var_series, y) / (far * far))


def clip_sds(bound: Array) -> Array:
    """A standardised bound within +-MAX_SDS."""
    return jnp.clip(bound, -MAX_SDS, MAX_SDS)


def _flush(bound: Array) -> Array:
    """A subnormal bound as zero: whether the processor knows such numbers depends on the libraries that are loaded."""
    subnormal = jnp.where(jnp.abs(bound) < jnp.finfo(bound.dtype).tiny, bound, 0)
    return bound - lax.stop_gradient(subnormal)


def _cut(bound: Array, is_tail: Array) -> Truncated:
    """The side of `bound` that is a tail where `is_tail` holds and the bulk elsewhere, seen as lying above it."""
    x = jnp.abs(bound)
    beyond = tail(x)
    rest = 1 - beyond.mass
    mean = jnp.where(is_tail, x + beyond.gap, beyond.pdf / rest)
    gap = jnp.where(is_tail, beyond.gap, mean + x)
    shrink = jnp.where(is_tail, 1 - beyond.var, mean * gap)
    var = jnp.where(is_tail, beyond.var, 1 - shrink)
    mass = jnp.where(is_tail, beyond.mass, rest)
    scaled = jnp.where(is_tail, INV_SQRT_2PI / (x + beyond.gap), rest)
    # log of the bulk's mass is log1p(-tail's mass), by the classic correction of log(rest)
    log = jnp.log(scaled)
    exact = jnp.where(rest < 1, log * (beyond.mass / jnp.where(rest < 1, 1 - rest, 1)), -beyond.mass)
    log_mass = jnp.where(is_tail, log - 0.5 * x * x, exact)
    return Truncated(log_mass, mass, mean, gap, var, shrink, is_tail, scaled)


def above(bound: Array) -> Truncated:
    """The standard normal cut to z > bound. Oracle: quadrature at 50 digits.

    With a = -bound: log_mass = log Phi(a), mean = phi(a)/Phi(a) = h, shrink = w = h (a + h).
    """
    bound = clip_sds(bound)
    return _cut(bound, bound > 0)


def below(bound: Array) -> Truncated:
    """The standard normal cut to z < bound, the mirror image of `above`; it shares the series with `above(bound)`."""
    bound = clip_sds(bound)
    mirrored = _cut(bound, bound < 0)
    return mirrored._replace(mean=-mirrored.mean, gap=-mirrored.gap)


def between(low: Array, high: Array) -> Truncated:
    """The standard normal cut to low < z < high. Oracle: quadrature at 50 digits.

    Gauss-Legendre on the part of the interval that carries mass, relative to the density's peak:
    only positive terms are added, so neither a narrow interval nor a far tail cancels. Subnormal bounds are zero; a
    width or a mass that would be subnormal is the smallest normal number.
    """
    low, high = _flush(clip_sds(low)), _flush(clip_sds(high))
    peak = jnp.clip(jnp.zeros_like(low), low, high)
    # exp(-40) of the peak is reached `reach` beyond it: solves peak * reach + reach^2 / 2 = 40
    reach = 2 * _TAIL_NATS / (jnp.abs(peak) + jnp.sqrt(peak * peak + 2 * _TAIL_NATS))
    start = jnp.maximum(low - peak, -reach)
    tiny = jnp.finfo(low.dtype).tiny
    width = jnp.where(high > low, jnp.maximum(jnp.minimum(high - peak, reach) - start, tiny), 0)
    nodes, weights = legendre.leggauss(_NODES)
    offset = start[..., None] + width[..., None] * jnp.asarray((nodes + 1) / 2, low.dtype)
    density = jnp.asarray(weights / 2, low.dtype) * jnp.exp(-offset * (peak[..., None] + 0.5 * offset))
    total = density.sum(-1)
    mean_offset = (density * offset).sum(-1) / total
    var = (density * (offset - mean_offset[..., None]) ** 2).sum(-1) / total
    scaled = INV_SQRT_2PI * width * total
    scaled = jnp.where(high > low, jnp.maximum(scaled, tiny), 0)
    log_mass = jnp.log(scaled) - 0.5 * peak * peak
    mass = scaled * jnp.exp(-0.5 * peak * peak)
    return Truncated(
        log_mass, mass, peak + mean_offset, (peak - low) + mean_offset, var, 1 - var, (low > 0) | (high < 0), scaled
    )


def log_ndtr(a: Array) -> Array:
    """log Phi(a)."""
    return above(-a).log_mass
