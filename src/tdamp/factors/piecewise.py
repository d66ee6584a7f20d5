"""The activation factor u = f(z) for any piecewise-linear f: one engine, activations are data.

Density: delta(u - f(z)) with z ~ N(mean, var) from below and exp(shift u - prec u^2 / 2) from above.
Paper: Appendix on nonlinear steps (ReLU only); erratum E5. On each region f is a line, so the belief is a
mixture of truncated Gaussians, exact for every mean, variance and message.
Oracle: quadrature, and autodiff of `log_partition`.
"""

from __future__ import annotations

from functools import reduce
from math import inf
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .. import numerics
from ..beliefs import Message, Moments, gain, tilt


class Region(NamedTuple):
    """f(z) = slope z + intercept for low < z < high."""

    low: float
    high: float
    slope: float
    intercept: float = 0.0


ACTIVATIONS: dict[str, tuple[Region, ...]] = {
    "relu": (Region(-inf, 0, 0), Region(0, inf, 1)),
    "leaky_relu": (Region(-inf, 0, 0.01), Region(0, inf, 1)),
    "abs": (Region(-inf, 0, -1), Region(0, inf, 1)),
    "hard_tanh": (Region(-inf, -1, 0, -1), Region(-1, 1, 1), Region(1, inf, 0, 1)),
    "identity": (Region(-inf, inf, 1),),
}


class Activated(NamedTuple):
    """Beliefs after the factor: u_post, and score and score_prec of the log-partition in z's mean.

    `score_prec` is exact and may be truly negative: the factor is not log-concave.
    """

    u_post: Moments
    score: Array
    score_prec: Array
    log_partition: Array


class _Part(NamedTuple):
    log_mass: Array  # with the message's evidence
    mass: Array  # without any message
    u_mean: Array
    u_var: Array
    score: Array
    score_prec: Array


def _part(region: Region, z_fwd: Moments, u_bwd: Message | None) -> _Part:
    """One region's share: the tilted Gaussian truncated to it."""
    low, high, slope, intercept = region
    zero = jnp.zeros((), z_fwd.mean.dtype)
    if slope == 0 or u_bwd is None:  # u is known here, or nothing is said about it
        belief, evidence, score, score_prec, shrink = z_fwd, zero, zero, zero, zero + 1
    else:
        on_z = Message(slope * (u_bwd.shift - intercept * u_bwd.prec), slope * slope * u_bwd.prec)
        belief, evidence = tilt(z_fwd, on_z), gain(z_fwd, on_z)
        shrink = 1 + z_fwd.var * on_z.prec
        score, score_prec = (on_z.shift - on_z.prec * z_fwd.mean) / shrink, on_z.prec / shrink
    if intercept != 0 and u_bwd is not None:
        evidence = evidence + intercept * (u_bwd.shift - 0.5 * intercept * u_bwd.prec)
    if low == -inf and high == inf:
        return _Part(evidence, zero + 1, slope * belief.mean + intercept, slope * slope * belief.var, score, score_prec)
    std = jnp.sqrt(belief.var)
    if high == inf:
        cut, bound = numerics.above((low - belief.mean) / std), low
    elif low == -inf:
        cut, bound = numerics.below((high - belief.mean) / std), high
    else:
        cut, bound = numerics.between((low - belief.mean) / std, (high - belief.mean) / std), low
    return _Part(
        log_mass=evidence + cut.log_mass,
        mass=cut.mass,
        u_mean=slope * (bound + std * cut.gap) + intercept,
        u_var=slope * slope * belief.var * cut.var,
        score=score + cut.mean * std / z_fwd.var,
        score_prec=score_prec + cut.shrink / (shrink * z_fwd.var),
    )


def forward(regions: tuple[Region, ...], z_fwd: Moments) -> Moments:
    """Moments of u = f(z) before any message from above: `activate` with a flat message, at half its cost."""
    parts = [_part(region, z_fwd, None) for region in regions]
    if len(parts) == 1:
        return Moments(parts[0].u_mean, parts[0].u_var)
    last = parts[-1].mass
    return _mixed_u([1 - last, last] if len(parts) == 2 else [part.mass for part in parts], parts)


def activate(regions: tuple[Region, ...], z_fwd: Moments, u_bwd: Message) -> Activated:
    """Posterior of u and score of z, exact. `z_fwd.var` must be positive (see damp.MIN_VAR)."""
    parts = [_part(region, z_fwd, u_bwd) for region in regions]
    if len(parts) == 1:
        (only,) = parts
        return Activated(Moments(only.u_mean, only.u_var), only.score, only.score_prec, only.log_mass)
    if len(parts) == 2:  # a sigmoid is cheaper than a softmax
        odds = parts[1].log_mass - parts[0].log_mass
        probs = [jax.nn.sigmoid(-odds), jax.nn.sigmoid(odds)]
        log_partition = jnp.logaddexp(parts[0].log_mass, parts[1].log_mass)
    else:
        log_mass = jnp.stack([part.log_mass for part in parts])
        log_partition = jax.nn.logsumexp(log_mass, axis=0)
        probs = list(jnp.exp(log_mass - log_partition))
    score = _mix(probs, [part.score for part in parts])
    score_prec = _mix(probs, [part.score_prec - (part.score - score) ** 2 for part in parts])
    return Activated(_mixed_u(probs, parts), score, score_prec, log_partition)


def _mix(probs: list[Array], values: list[Array]) -> Array:
    return reduce(jnp.add, (q * value for q, value in zip(probs, values, strict=True)))


def _mixed_u(probs: list[Array], parts: list[_Part]) -> Moments:
    mean = _mix(probs, [part.u_mean for part in parts])
    return Moments(mean, _mix(probs, [part.u_var + (part.u_mean - mean) ** 2 for part in parts]))


def apply(regions: tuple[Region, ...], z: Array) -> Array:
    """f(z) itself."""
    u = regions[0].slope * z + regions[0].intercept
    for region in regions[1:]:
        u = jnp.where(z > region.low, region.slope * z + region.intercept, u)
    return u
