"""Compaction: removed units leave the arrays, so that training and prediction get cheaper.

A hidden unit goes with its outgoing group; its incoming column and bias go with it. Padding puts units back that
carry no message, so that neighbouring sizes share one compilation. Smaller arrays are compiled while training goes on
with the larger ones, and taken into use at an epoch that the problem's size decides: how long the compiler takes does
not change a seed's result. Oracle: the masked network predicts the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import ceil

import jax
import numpy as np

from ..factors.priors.base import rows_of
from ..factors.priors.catalog import PRIORS
from ..numerics.beliefs import Moments
from .network import Network
from .state import State, remove
from .turbo import Layer

BUCKET = 8
"""During training widths are padded to a multiple of this."""
WORTH = 4
"""Smaller arrays pay when the multiply-adds have fallen by this factor: small kernels cost their overhead anyway. More
units go while they are compiled, so that what they bring is more than this."""
COMPILATION = 1e11
"""Multiply-adds that take about as long as compiling for new shapes."""
PRODUCTS = 4
"""Matrix products of a layer's weights with a batch, at least."""
SPARE = 8
"""Room for so many more units in each layer than the forecast says."""


def bucket_of(prior: str, network: Network) -> int:
    """Widths are padded to a multiple of this, if the prior does not mind units without a message.

    Channels are not: a convolution costs in proportion to them.
    """
    return BUCKET if PRIORS[prior].pads and not network.shares_weights else 1


@dataclass(frozen=True)
class Smaller:
    """Arrays that are being compiled."""

    widths: tuple[int, ...]
    due: int  # the epoch after which they may be used
    compiled: Future[None]

    def holds(self, active: list[np.ndarray]) -> bool:
        """Whether the units that are left have room."""
        return all(mask.sum() <= width for mask, width in zip(active, self.widths, strict=False))


def epochs_to_compile(network: Network, rows: int) -> int:
    """How many epochs of so many rows a compilation takes about."""
    return ceil(COMPILATION / (PRODUCTS * rows * network.n_multiply_adds))


def room(network: Network, expected: list[np.ndarray], bucket: int) -> tuple[int, ...]:
    """Widths that hold the units expected and a few more, but none above today's."""
    wanted = padded([int(mask.sum()) + SPARE for mask in expected], bucket)
    return network.of_units([min(n, now) for n, now in zip(wanted, network.widths, strict=False)]).widths


def padded(counts: Sequence[int], bucket: int) -> tuple[int, ...]:
    """The next multiples of `bucket`."""
    return tuple(-(-n // bucket) * bucket for n in counts)


def pays(network: Network, active: list[np.ndarray], rows_left: float) -> bool:
    """Whether smaller arrays save more than their compilation costs, with so many rows still to train on."""
    smaller = network.of_units(padded([int(mask.sum()) for mask in active], BUCKET))
    work, now = smaller.n_multiply_adds, network.n_multiply_adds
    return work * WORTH <= now and PRODUCTS * rows_left * (now - work) > COMPILATION


def take(
    state: State, network: Network, active: list[np.ndarray], bucket: int, widths: Sequence[int] | None = None
) -> tuple[State, Network, list[np.ndarray]]:
    """The state of the `active` units (a mask for each layer's inputs), padded to multiples of `bucket` or to `widths`.

    Also gives back the network's new shape and the old indices of its units: padded units repeat index 0, switched
    off. Units that an image of data or a skip needs stay in the arrays, switched off.
    """
    widths = padded([int(mask.sum()) for mask in active], bucket) if widths is None else widths
    index, real = [], []
    for value, (mask, width) in enumerate(zip(active, widths, strict=False)):
        goes = network.is_removable(value)
        index.append(_pad(np.flatnonzero(mask), width) if goes else np.arange(len(mask)))
        real.append(np.arange(width) < mask.sum() if goes else mask)
    columns = [*index[1:], np.arange(network.widths[-1])]
    layers = tuple(take_layer(*parts) for parts in zip(jax.device_get(state.layers), index, columns, strict=True))
    return remove(state._replace(layers=layers), real, network.rigid), network.take(index), index


def rows_in(layers: Sequence[Layer], units: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The rows of each layer's table that belong to these of its units."""
    pairs = zip(layers, units, strict=True)
    return [rows_of(some, len(layer.offset), len(layer.centre)) for layer, some in pairs]


def _pad(index: np.ndarray, width: int) -> np.ndarray:
    return np.concatenate([index, np.zeros(width - len(index), index.dtype)])


def take_layer(layer: Layer, units: np.ndarray, columns: np.ndarray) -> Layer:
    """The layer between these inputs and these outputs alone."""
    rows = rows_of(units, len(layer.offset), len(layer.centre))
    return layer._replace(
        weight=Moments(*(a[np.ix_(rows, columns)] for a in layer.weight)),
        bias=Moments(*(a[columns] for a in layer.bias)),
        centre=layer.centre[rows],
        offset=layer.offset[units],
        bias_offset=layer.bias_offset[columns],
        active_prob=layer.active_prob[units],
    )
