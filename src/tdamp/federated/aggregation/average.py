"""Averages of spike-slab beliefs: rules that treat every group of weights alike and remember nothing.

Density of a client: prod_g [ P_g prod_j N(w_j; mean_j, var_j) + (1 - P_g) prod_j delta(w_j) ], P_g = sigmoid(logit_g).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...engine.turbo import Layer
from ...factors.priors import base as priors
from ...factors.priors import spike_slab
from ...numerics.beliefs import Moments
from .base import Aggregate, AggregationRule, Round, on_host


class SpikeSlab(NamedTuple):
    """A group's log-odds of being on, (groups,), and its slabs, (groups, size). Log-odds may be infinite: certain."""

    logit: np.ndarray
    slab: Moments


class AverageRule(AggregationRule):
    """A rule that combines beliefs group by group; a member has a `name` and `combine`."""

    keeps_offsets: ClassVar[bool] = False
    """Whether the averaged slabs' evidence above the old offsets already gives the averaged log-odds."""

    def combine(self, beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
        """The average of the clients' beliefs with these shares, which sum to one."""
        raise NotImplementedError

    def aggregate(self, round: Round, memory: Any) -> Aggregate:
        """The average of every layer's weights and biases; log-odds are kept in the layers' offsets."""
        shares, layers = list(round.shares.values()), []
        for l, layer in enumerate(round.layers):
            each = [posterior[l] for posterior in round.posteriors.values()]
            groups = round.group_of if l == 0 else None
            weight = self.combine([_groups(layer, belief.weight, groups) for belief in each], shares)
            bias = self.combine([_single(layer, belief.bias) for belief in each], shares)
            slab = _by_row(weight.slab, np.shape(layer.weight.mean))
            new = layer._replace(weight=slab, bias=on_host(bias.slab.mean[:, 0], bias.slab.var[:, 0]))
            layers.append(new if self.keeps_offsets else _with_logits(new, weight.logit, bias.logit, groups))
        return Aggregate(layers, memory)


def _groups(layer: Layer, slab: Moments, group_of: Any) -> SpikeSlab:
    logit = np.asarray(priors.group_logit(layer.offset, slab, layer.base_var, group_of))
    return SpikeSlab(logit, _by_unit(slab, len(layer.offset)))


def _by_unit(slab: Moments, n_units: int) -> Moments:
    """A table of weights with a row for each unit, all its taps side by side."""
    if len(slab.mean) == n_units:
        return slab
    parts = (np.asarray(part).reshape(-1, n_units, part.shape[1]) for part in slab)
    return on_host(*(part.transpose(1, 0, 2).reshape(n_units, -1) for part in parts))


def _by_row(slab: Moments, shape: tuple[int, ...]) -> Moments:
    """What `_by_unit` was given, of this shape."""
    if np.shape(slab.mean) == shape:
        return slab
    parts = (np.asarray(part).reshape(len(part), -1, shape[1]) for part in slab)
    return on_host(*(part.transpose(1, 0, 2).reshape(shape) for part in parts))


def _single(layer: Layer, slab: Moments) -> SpikeSlab:
    """Biases are groups of one."""
    logit = np.asarray(spike_slab.active_logit(layer.bias_offset, slab, layer.bias_base_var))
    return SpikeSlab(logit, on_host(np.asarray(slab.mean)[:, None], np.asarray(slab.var)[:, None]))


def _with_logits(layer: Any, logit: np.ndarray, bias_logit: np.ndarray, group_of: Any) -> Layer:
    """The layer with offsets that give these log-odds."""
    offset = logit - np.asarray(
        priors.group_logit(np.zeros_like(layer.offset), layer.weight, layer.base_var, group_of), np.float64
    )
    bias_offset = bias_logit - np.asarray(spike_slab.evidence(layer.bias, layer.bias_base_var), np.float64)
    dtype = np.asarray(layer.offset).dtype
    return layer._replace(offset=offset.astype(dtype), bias_offset=bias_offset.astype(dtype))
