"""Compaction: removed units leave the arrays, so that training and prediction get cheaper.

A hidden unit goes with its outgoing group; its incoming column and bias go with it. Padding puts units back that
carry no message, so that neighbouring sizes share one compilation. Oracle: the masked network predicts the same.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np

from .beliefs import Moments
from .network import Network, n_multiply_adds
from .state import State, remove
from .turbo import Layer

BUCKET = 8
"""During training widths are padded to a multiple of this."""
WORTH = 6
"""The arrays shrink when the multiply-adds have fallen by this factor: small kernels cost their overhead anyway."""
COMPILATION = 1e11
"""Multiply-adds that take about as long as compiling for new shapes."""
PRODUCTS = 4
"""Matrix products of a layer's weights with a batch, at least."""


def pays(network: Network, active: list[np.ndarray], rows_left: float) -> bool:
    """Whether smaller arrays save more than their compilation costs, with so many rows still to train on."""
    padded = (*(-(-int(mask.sum()) // BUCKET) * BUCKET for mask in active), network.widths[-1])
    work, now = n_multiply_adds(padded), n_multiply_adds(network.widths)
    return work * WORTH <= now and PRODUCTS * rows_left * (now - work) > COMPILATION


def take(
    state: State, network: Network, active: list[np.ndarray], bucket: int
) -> tuple[State, Network, list[np.ndarray]]:
    """The state of the `active` units (a mask for each layer's inputs), padded to multiples of `bucket`.

    Also gives back the network's new shape and the old indices of its units: padded units repeat index 0, switched
    off.
    """
    index = [_pad(np.flatnonzero(mask), bucket) for mask in active]
    columns = [*index[1:], np.arange(network.widths[-1])]
    layers = tuple(_take_layer(*parts) for parts in zip(jax.device_get(state.layers), index, columns, strict=True))
    real = [np.arange(len(i)) < mask.sum() for i, mask in zip(index, active, strict=True)]
    widths = (*(len(i) for i in index), network.widths[-1])
    return remove(state._replace(layers=layers), real), replace(network, widths=widths), index


def _pad(index: np.ndarray, bucket: int) -> np.ndarray:
    return np.concatenate([index, np.zeros(-len(index) % bucket, index.dtype)])


def _take_layer(layer: Layer, rows: np.ndarray, columns: np.ndarray) -> Layer:
    return layer._replace(
        weight=Moments(*(a[np.ix_(rows, columns)] for a in layer.weight)),
        bias=Moments(*(a[columns] for a in layer.bias)),
        centre=layer.centre[rows],
        offset=layer.offset[rows],
        bias_offset=layer.bias_offset[columns],
        active_prob=layer.active_prob[rows],
    )
