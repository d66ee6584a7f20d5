"""Layers of a new posterior from those of the clients: averages, the server's step, and centres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.turbo import Layer
from ...factors.priors import base, spike_slab
from ...numerics.beliefs import Moments
from ..messages import Belief
from .averages import SpikeSlab, algebraic, geometric, on_host

RULES = {"wga": geometric, "waa": algebraic}
Velocity = list[tuple[np.ndarray, np.ndarray]]
"""The last move of every layer's weights and biases."""


def recentred(belief: Belief, centre: Any) -> Belief:
    """The same function of the inputs with another centre: the biases take over what the centre moves, in float64."""
    move = np.asarray(centre, np.float64) - belief.centre
    mean = belief.bias.mean + move @ np.asarray(belief.weight.mean, np.float64)
    return Belief(belief.weight, on_host(mean, belief.bias.var), centre)


def average(
    layers: Sequence[Layer], posteriors: Sequence[Sequence[Belief]], shares: Sequence[float], name: str, ids: Any
) -> list[Layer]:
    """WGA or WAA of posteriors that are in the `layers`' centres; `ids` are the groups of the inputs.

    Log-odds of a group are its slabs' evidence above an offset that all clients share, and of a geometric average they
    are just that; the algebraic one needs offsets of its own.
    """
    rule, found = RULES[name], []
    for l, layer in enumerate(layers):
        each, groups = [posterior[l] for posterior in posteriors], ids if l == 0 else None
        weight = rule([_groups(layer, belief.weight, groups) for belief in each], shares)
        bias = rule([_single(layer, belief.bias) for belief in each], shares)
        new = layer._replace(weight=weight.slab, bias=on_host(bias.slab.mean[:, 0], bias.slab.var[:, 0]))
        found.append(_with_logits(new, weight.logit, bias.logit, groups) if name == "waa" else new)
    return found


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


def _groups(layer: Layer, slab: Moments, ids: Any) -> SpikeSlab:
    return SpikeSlab(np.asarray(base.group_logit(layer.offset, slab, layer.base_var, ids)), slab)


def _single(layer: Layer, slab: Moments) -> SpikeSlab:
    """Biases are groups of one."""
    logit = np.asarray(spike_slab.active_logit(layer.bias_offset, slab, layer.bias_base_var))
    return SpikeSlab(logit, on_host(np.asarray(slab.mean)[:, None], np.asarray(slab.var)[:, None]))


def _with_logits(layer: Any, logit: np.ndarray, bias_logit: np.ndarray, ids: Any) -> Layer:
    """Offsets that give these log-odds."""
    offset = logit - np.asarray(base.evidence(layer.weight, layer.base_var, ids), np.float64)
    bias_offset = bias_logit - np.asarray(spike_slab.evidence(layer.bias, layer.bias_base_var), np.float64)
    dtype = np.asarray(layer.offset).dtype
    return layer._replace(offset=offset.astype(dtype), bias_offset=bias_offset.astype(dtype))
