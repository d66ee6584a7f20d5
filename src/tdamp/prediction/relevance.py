"""How much is each input needed? The log-likelihood that is lost when its weights are set to zero.

The evidence of a group by its own weights (group_spike_slab) takes them one by one. The weights of an input act
together, so what they lose together is measured instead: the posterior-mean network, with and without the input, on
the training data, each row counted once. Not guaranteed: where two inputs say the same, each alone looks unneeded.
Oracle: the network with the column held at its mean. On the host: nothing compiles.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from scipy.special import log_ndtr

from ..engine.network import Network
from ..engine.state import State
from ..factors.activations.catalog import ACTIVATIONS

MOST_ROWS = 1000
"""Rows that are looked at: their sum stands for all rows."""


def some_rows(n_rows: int) -> np.ndarray:
    """At most MOST_ROWS of them, evenly spread."""
    return np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(int)


def lost_log_likelihood(
    network: Network, state: State, x: np.ndarray, y: np.ndarray, var: np.ndarray, ids: np.ndarray | None = None
) -> np.ndarray:
    """Nats lost on these rows without each input's group, (inputs,).

    `x` has the columns of the network and `ids` are their groups. Only the means are compared: `var` is the variance
    of the outputs of the full network, with the noise of a regression.
    """
    layers: Any = jax.device_get(state.layers)
    weights = [layer.active_prob[:, None] * layer.weight.mean.astype(np.float64) for layer in layers]
    first = x - layers[0].centre
    z = first @ weights[0] + layers[0].bias.mean

    def log_likelihood(z: np.ndarray) -> float:
        for layer, weight in zip(layers[1:], weights[1:], strict=True):
            z = (activate(network.activation, z) - layer.centre) @ weight + layer.bias.mean
        return _log_likelihood(network.task, z[:, : network.n_targets], var, y, np.asarray(state.noise_var, np.float64))

    full = log_likelihood(z)
    found = np.zeros(x.shape[1])
    groups = np.arange(x.shape[1]) if ids is None else np.asarray(ids)
    for group in np.unique(groups):
        here = groups == group
        found[here] = full - log_likelihood(z - first[:, here] @ weights[0][here])
    return found


def _log_likelihood(task: str, z: np.ndarray, var: np.ndarray, y: np.ndarray, noise_var: np.ndarray) -> float:
    if task == "regression":
        return float(-0.5 * ((y - z) ** 2 / var).sum())
    own = np.arange(len(y)), y
    margin = (z[own][:, None] - z) / np.sqrt(noise_var + var + var[own][:, None])
    score: Any = log_ndtr(margin)
    score[own] = 0.0
    return float(score.sum())


def occam(state: State, counted: float, ids: np.ndarray | None = None) -> np.ndarray:
    """What each input's group costs, (inputs,): nats by which its weights narrow the base prior, data counted once."""
    layer: Any = jax.device_get(state.layers[0])
    var, base = layer.weight.var.astype(np.float64), float(layer.base_var)
    narrowed = np.maximum(base / np.where(var > 0, var, base) - 1, 0) / counted
    cost: Any = 0.5 * np.log1p(narrowed).sum(1)
    if ids is None:
        return cost
    _, group = np.unique(ids, return_inverse=True)
    return np.bincount(group, cost)[group]


def activate(name: str, z: np.ndarray) -> np.ndarray:
    """The activation itself, on the host."""
    regions = ACTIVATIONS[name].regions
    bounds = [region.low for region in regions[1:]]
    at = np.searchsorted(bounds, z) if bounds else np.zeros(z.shape, int)
    return np.array([r.slope for r in regions])[at] * z + np.array([r.intercept for r in regions])[at]
