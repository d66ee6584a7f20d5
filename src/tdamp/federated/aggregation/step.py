"""The server's step from its layers to aggregated ones, and the centres that biases belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.turbo import Layer
from ...numerics.beliefs import Moments
from ..messages import Belief
from .base import on_host

Velocity = list[tuple[np.ndarray, np.ndarray]]
"""The last move of every layer's weights and biases."""


def recentred(belief: Belief, centre: Any) -> Belief:
    """The same function of the inputs with another centre: the biases take over what the centre moves, in float64."""
    move = np.asarray(centre, np.float64) - belief.centre
    mean = belief.bias.mean + move @ np.asarray(belief.weight.mean, np.float64)
    return Belief(belief.weight, on_host(mean, belief.bias.var), centre)


def stepped(
    old: Sequence[Layer], average: Sequence[Layer], last: Velocity | None, step: float, momentum: float
) -> tuple[list[Layer], Velocity]:
    """The server's step: means `step` times as far from the old ones as the average's, and on in the last direction."""
    layers, velocity = [], Velocity()
    for l, (was, new) in enumerate(zip(old, average, strict=True)):
        before = last[l] if last else (0.0, 0.0)
        weight, weight_move = _step(was.weight, new.weight, before[0], step, momentum)
        bias, bias_move = _step(was.bias, new.bias, before[1], step, momentum)
        layers.append(new._replace(weight=weight, bias=bias))
        velocity.append((weight_move, bias_move))
    return layers, velocity


def _step(old: Moments, new: Moments, last: Any, step: float, momentum: float) -> tuple[Moments, np.ndarray]:
    move = np.asarray(new.mean, np.float64) - old.mean
    if step == 1 and momentum == 0:  # the average itself, to the last digit
        return new, move
    move = step * move + momentum * last
    return on_host(old.mean + move, new.var), move


def settled(layer: Layer, centre: Any) -> Layer:
    """The layer with another centre, in the engine's precision."""
    dtype = np.asarray(layer.centre).dtype
    centre = np.asarray(centre, dtype)
    moved = recentred(Belief(layer.weight, layer.bias, layer.centre), centre)  # type: ignore[arg-type]
    weight, bias = on_host(*layer.weight, dtype), on_host(*moved.bias, dtype)
    return layer._replace(weight=weight, bias=bias, centre=centre)
