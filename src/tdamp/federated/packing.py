"""Half the bytes: weights' precisions as an outer product, on the wire alone.

What a layer's data say about weight (i, j) is a sum over rows of (input i)^2 (what reaches output j)^2, so that
1 / var_ij - 1 / base_var is nearly the product of a number for the input and one for the output. Sent like this a
weight costs one number instead of two; row and column sums are kept. Not guaranteed: correlations between the two.
Oracle: a precision that is an outer product comes back as it was; row and column sums come back always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics.beliefs import Moments
from .aggregation.base import on_host
from .aggregation.site_factors import FLOOR
from .messages import Broadcast, Factored, Upload


def factored(slab: Moments, base_var: Any) -> Factored:
    """The nearest form: the precision of the data alone, with its row and column sums."""
    mean, var = (np.asarray(part, np.float64) for part in slab)
    data = np.maximum(1 / var - 1 / float(base_var), 0.0)
    scale = np.sqrt(max(float(data.sum()), np.finfo(np.float64).tiny))
    row, column = (data.sum(axis) / scale for axis in (1, 0))
    return Factored(mean.astype(np.float32), row.astype(np.float32), column.astype(np.float32))


def full(slab: Factored, base_var: Any) -> Moments:
    """The slabs that the factored form stands for."""
    prec = 1 / float(base_var) + np.outer(slab.row.astype(np.float64), slab.column)
    return on_host(slab.mean, 1 / prec, np.float32)


def pack_upload(upload: Upload, base_vars: Sequence[Any]) -> Upload:
    """The upload with factored precisions, to be sent."""
    layers = zip(upload.posterior, base_vars, strict=True)
    return upload._replace(
        posterior=tuple(belief._replace(weight=factored(belief.weight, base)) for belief, base in layers)
    )


def unpack_upload(upload: Upload, base_vars: Sequence[Any]) -> Upload:
    """The upload with a variance for every weight, whether it was packed or not."""
    layers = zip(upload.posterior, base_vars, strict=True)
    return upload._replace(
        posterior=tuple(belief._replace(weight=_full(belief.weight, base)) for belief, base in layers)
    )


def pack_broadcast(broadcast: Broadcast) -> Broadcast:
    """The broadcast with factored precisions, to be sent."""
    layers: Any = broadcast.state.layers
    packed: Any = tuple(layer._replace(weight=factored(layer.weight, layer.base_var)) for layer in layers)
    anchors = broadcast.anchors
    if anchors is not None:
        pairs = zip(anchors, layers, strict=True)
        anchors = tuple(a._replace(weight=_anchor(a.weight, layer)) for a, layer in pairs)  # type: ignore[arg-type]
    return broadcast._replace(state=broadcast.state._replace(layers=packed), anchors=anchors)


def unpack_broadcast(broadcast: Broadcast) -> Broadcast:
    """The broadcast with a variance for every weight, whether it was packed or not."""
    layers = tuple(layer._replace(weight=_full(layer.weight, layer.base_var)) for layer in broadcast.state.layers)
    anchors = broadcast.anchors
    if anchors is not None:
        anchors = tuple(a._replace(weight=_full(a.weight, _widest(b))) for a, b in zip(anchors, layers, strict=True))
    return broadcast._replace(state=broadcast.state._replace(layers=layers), anchors=anchors)


def _anchor(cavity: Moments, layer: Any) -> Factored:
    """The anchor with the cavity's slope at the server's mean, on which the fixed point of the sites hangs."""
    packed, here = factored(cavity, _widest(layer)), np.asarray(layer.weight.mean, np.float64)
    away = (np.asarray(cavity.mean, np.float64) - here) / cavity.var * full(packed, _widest(layer)).var
    return packed._replace(mean=(here + away).astype(np.float32))


def _widest(layer: Any) -> float:
    """Cavities may be wider than the base prior."""
    return float(layer.base_var) / FLOOR


def _full(slab: Any, base_var: Any) -> Moments:
    return full(slab, base_var) if isinstance(slab, Factored) else slab
