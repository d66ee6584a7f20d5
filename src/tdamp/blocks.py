"""Prediction on the host: rows go block by block, padded so that tables of different lengths share a compilation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from . import compact
from .beliefs import Moments
from .feed import ROW_BUCKET, SMALL, padded_rows
from .network import Network
from .predict import NODES, log_class_probs, mean_network, output_moments
from .training import Fitted, active_units

MOST_NUMBERS = 2**24
"""Of the largest intermediate array of a block."""


@partial(jax.jit, static_argnums=0)
def _moments(network: Network, layers: Any, noise_var: jax.Array, x: jax.Array) -> Moments:
    return output_moments(network, layers, x)


@partial(jax.jit, static_argnums=0)
def _log_probs(network: Network, layers: Any, noise_var: jax.Array, x: jax.Array) -> jax.Array:
    return log_class_probs(output_moments(network, layers, x), noise_var)


@partial(jax.jit, static_argnums=0)
def _point(network: Network, layers: Any, noise_var: jax.Array, x: jax.Array) -> jax.Array:
    return mean_network(network, layers, x)


def moments(fitted: Fitted, x: np.ndarray) -> Any:
    """`Moments` of the outputs under the posterior; `x` has every column of the network that was asked for."""
    return Moments(*_in_blocks(_moments, fitted, x, SMALL))


def log_probs(fitted: Fitted, x: np.ndarray) -> np.ndarray:
    """Log class probabilities, (rows, classes)."""
    most = MOST_NUMBERS // (NODES * fitted.network.widths[-1] ** 2)
    return _in_blocks(_log_probs, fitted, x, most)


def point(fitted: Fitted, x: np.ndarray) -> np.ndarray:
    """Outputs of the posterior-mean network."""
    return _in_blocks(_point, fitted, x, SMALL)


def _in_blocks(function: Callable[..., Any], fitted: Fitted, x: np.ndarray, most: int) -> Any:
    """`function` of all rows, at most about `most` at a time; the units are padded as they are in training."""
    state, network, columns = fitted.state, fitted.network, fitted.kept[0]
    if any(width % compact.BUCKET for width in network.widths[:-1]):  # during training they are padded already
        state, network, index = compact.take(state, network, active_units(state), compact.BUCKET)
        columns = columns[index[0]]
    x = x[:, columns].astype(state.layers[0].centre.dtype)
    size = max(ROW_BUCKET, min(padded_rows(len(x)), 1 << (max(most, 1).bit_length() - 1)))
    found = []
    for start in range(0, len(x), size):
        block = x[start : start + size]
        full = np.concatenate([block, np.zeros((size - len(block), x.shape[1]), x.dtype)])
        result = function(network, state.layers, state.noise_var, full)
        found.append(result)
    return jax.tree.map(lambda *parts: np.concatenate([np.asarray(part) for part in parts])[: len(x)], *found)
