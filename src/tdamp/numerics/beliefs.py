"""Beliefs: the two types that carry every message, and the evidence they give each other.

`Message(shift, prec)` is exp(shift x - prec x^2 / 2), where zero means "no information";
`Moments(mean, var)` is a mean and a variance, where `var = 0` means "known".
"""

from __future__ import annotations

from typing import NamedTuple, cast

import jax.numpy as jnp
from jax import Array


class Moments(NamedTuple):
    """First two moments of a belief."""

    mean: Array
    var: Array


def known(value: Array) -> Moments:
    """A belief without doubt. Its variance is None: products with it are left out instead of multiplied by zero."""
    return Moments(value, cast(Array, None))


class Message(NamedTuple):
    """Natural parameters of a Gaussian factor exp(shift x - prec x^2 / 2), not normalised."""

    shift: Array
    prec: Array


class Score(NamedTuple):
    """First and minus second derivative of a factor's log-partition in the mean of the belief it was sent."""

    score: Array
    prec: Array


def as_message(score: Score, belief: Moments) -> Message:
    """Natural parameters of a message that is given by its score and precision at a belief's mean."""
    return Message(score.score + belief.mean * score.prec, score.prec)


def flat(shape: tuple[int, ...], dtype: jnp.dtype) -> Message:
    """The message that says nothing."""
    return Message(jnp.zeros(shape, dtype), jnp.zeros(shape, dtype))


def moments(message: Message) -> Moments:
    """Moments of a proper message (prec > 0)."""
    var = 1 / message.prec
    return Moments(message.shift * var, var)


def natural(belief: Moments) -> Message:
    """Natural parameters of a belief (var > 0)."""
    return Message(belief.mean / belief.var, 1 / belief.var)


def tilt(belief: Moments, message: Message | None) -> Moments:
    """Moments of N(x; mean, var) exp(shift x - prec x^2 / 2), normalised; `None` stands for the flat message.

    Oracle: quadrature, and autodiff of `gain`.
    """
    if message is None:
        return belief
    shrink = 1 + belief.var * message.prec
    return Moments((belief.mean + belief.var * message.shift) / shrink, belief.var / shrink)


def gain(belief: Moments, message: Message) -> Array:
    """log of the integral of N(x; mean, var) exp(shift x - prec x^2 / 2): the evidence gained.

    Written so that no intermediate exceeds the result by much: float32 takes variances
    1e-12..1e12 and means of 1e4 standard deviations. Oracle: quadrature and float64.
    """
    mean, var = belief
    shift, prec = message
    shrink = 1 + var * prec
    tilted = mean / shrink + (var / shrink) * shift
    return 0.5 * (shift * tilted + (mean / shrink) * (shift - prec * mean) - jnp.log1p(var * prec))


def log_norm(belief: Moments) -> Array:
    """log of the integral of exp(shift x - prec x^2 / 2) of the belief's natural parameters, but for log sqrt(2 pi).

    Differences of it are evidence: gain(belief, message) = log_norm(tilt(belief, message)) - log_norm(belief), and
    relative to a base prior it is the Savage-Dickey ratio.
    """
    return 0.5 * (belief.mean * (belief.mean / belief.var) + jnp.log(belief.var))


def thin(slab: Moments, active_prob: Array) -> Moments:
    """Moments of active_prob N(x; slab) + (1 - active_prob) delta(x)."""
    mean = active_prob * slab.mean
    return Moments(mean, active_prob * (slab.var + (1 - active_prob) * slab.mean**2))
