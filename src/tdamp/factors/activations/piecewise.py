"""The activation factor u = f(z) for any piecewise-linear f: one engine, activations are data.

Density: delta(u - f(z)) with z ~ N(mean, var) from below and exp(shift u - prec u^2 / 2) from above.
Paper: Appendix on nonlinear steps (ReLU only); erratum E5. On each region f is a line, so the belief is a
mixture of truncated Gaussians, exact for every mean, variance and message.
Oracle: quadrature, and autodiff of `log_partition`.
"""

from __future__ import annotations

from functools import reduce
from math import inf
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics import truncated_normal
from ...numerics.beliefs import Message, Moments, flat


class Region(NamedTuple):
    """f(z) = slope z + intercept for low < z < high."""

    low: float
    high: float
    slope: float
    intercept: float = 0.0


class Activated(NamedTuple):
    """Beliefs after the factor: u_post, and score and score_prec of the log-partition in z's mean.

    `score_prec` is exact and may be truly negative: the factor is not log-concave.
    """

    u_post: Moments
    score: Array
    score_prec: Array
    log_partition: Array


class _Part(NamedTuple):
    log_mass: Array  # with the message's evidence, but without the scale
    scale: Array  # the mass is exp(log_mass) scale: one logarithm serves two parts
    u_mean: Array
    u_var: Array
    score: Array  # in units of z's standard deviation, as is score_prec
    score_prec: Array


def _part(region: Region, z_fwd: Moments, std: Array, u_bwd: Message) -> _Part:
    """One region's share: the tilted Gaussian truncated to it."""
    low, high, slope, intercept = region
    mean, var = z_fwd
    constant = intercept * (u_bwd.shift - 0.5 * intercept * u_bwd.prec)
    if slope == 0:  # u is known here: the message says nothing about z
        zero = jnp.zeros((), mean.dtype)
        tilted, shrink, thin, score, score_prec, evidence, shift, prec = mean, zero + 1, zero + 1, *(zero,) * 5
    else:
        shift, prec = slope * (u_bwd.shift - intercept * u_bwd.prec), slope * slope * u_bwd.prec
        shrink = 1 / (1 + var * prec)
        thin = jnp.sqrt(shrink)
        tilted = (mean + var * shift) * shrink
        pull = (shift - prec * mean) * shrink
        score, score_prec = pull * std, prec * var * shrink
        evidence = 0.5 * (shift * tilted + mean * pull)  # of the message; its factor `thin` goes into the scale
    if low == -inf and high == inf:
        u_post = slope * tilted + intercept, slope * slope * var * shrink
        return _Part(constant + evidence, thin, *u_post, score, score_prec)
    tilted_std = std * thin
    if high == inf:
        cut, bound = truncated_normal.above((low - tilted) / tilted_std), low
    elif low == -inf:
        cut, bound = truncated_normal.below((high - tilted) / tilted_std), high
    else:
        cut, bound = truncated_normal.between((low - tilted) / tilted_std, (high - tilted) / tilted_std), low
    near = jnp.where(tilted < low, low, high) if low > -inf and high < inf else bound
    edge = near * (shift - 0.5 * prec * near) - 0.5 * ((near - mean) / std) ** 2
    return _Part(
        log_mass=constant + jnp.where(cut.is_tail, edge, evidence),
        scale=cut.scaled * thin,
        u_mean=slope * (bound + tilted_std * cut.gap) + intercept,
        u_var=slope * slope * var * shrink * cut.var,
        score=score + cut.mean * thin,
        score_prec=score_prec + cut.shrink * shrink,
    )


def forward(regions: tuple[Region, ...], z_fwd: Moments) -> Moments:
    """Moments of u = f(z) before any message from above: `activate` with a flat message, at a fraction of its cost."""
    if len(regions) != 2:
        return activate(regions, z_fwd, flat((), z_fwd.mean.dtype)).u_post
    return _kink(*regions, z_fwd)


def _kink(left: Region, right: Region, z_fwd: Moments) -> Moments:
    """Two lines that meet: f is the line on the mean's side, plus the change of slope times the far tail.

    Cov(z, tail) = var P(tail) by Stein's lemma; cancellation costs less than a digit (most for abs, at the kink).
    """
    mean, var = z_fwd
    std = jnp.sqrt(var)
    bound = truncated_normal.clip_sds((left.high - mean) / std)
    beyond = truncated_normal.tail(jnp.abs(bound))
    near = jnp.where(bound < 0, right.slope, left.slope)
    jump = jnp.where(bound < 0, left.slope - right.slope, right.slope - left.slope)
    first = beyond.mass * beyond.gap
    second = beyond.mass * (beyond.var + (1 - beyond.mass) * beyond.gap * beyond.gap)
    return Moments(
        left.slope * left.high + left.intercept + near * (mean - left.high) + (right.slope - left.slope) * std * first,
        var * (near * near + 2 * near * jump * beyond.mass + jump * jump * second),
    )


def activate(regions: tuple[Region, ...], z_fwd: Moments, u_bwd: Message) -> Activated:
    """Posterior of u and score of z, exact. `z_fwd.var` must be positive (see damp.MIN_VAR)."""
    std = jnp.sqrt(z_fwd.var)
    parts = [_part(region, z_fwd, std, u_bwd) for region in regions]
    log_mass = jnp.stack([part.log_mass + jnp.log(part.scale) for part in parts])
    log_partition = jax.nn.logsumexp(log_mass, axis=0)
    if len(parts) == 2:  # a sigmoid is cheaper than a softmax
        odds = parts[1].log_mass - parts[0].log_mass + jnp.log(parts[1].scale / parts[0].scale)
        against = jnp.exp(-odds)  # may be infinite
        right = 1 / (1 + against)
        probs = [jnp.where(against < 1, against * right, 1 - right), right]
    else:
        probs = list(jnp.exp(log_mass - log_partition))
    score = _mix(probs, [part.score for part in parts])
    score_prec = _mix(probs, [part.score_prec - (part.score - score) ** 2 for part in parts])
    u_mean = _mix(probs, [part.u_mean for part in parts])
    u_var = _mix(probs, [part.u_var + (part.u_mean - u_mean) ** 2 for part in parts])
    return Activated(Moments(u_mean, u_var), score / std, score_prec / z_fwd.var, log_partition)


def _mix(probs: list[Array], values: list[Array]) -> Array:
    return reduce(jnp.add, (q * value for q, value in zip(probs, values, strict=True)))


def apply(regions: tuple[Region, ...], z: Any) -> Any:
    """f(z) itself, of NumPy or JAX arrays."""
    where = np.where if isinstance(z, np.ndarray) else jnp.where
    u = regions[0].slope * z + regions[0].intercept
    for region in regions[1:]:
        u = where(z > region.low, region.slope * z + region.intercept, u)
    return u
