"""How relevant is each input? The log-likelihood that is lost when its weights are set to zero.

The evidence of a group by its own weights (factors/priors/group.py) takes them one by one. The weights of an input act
together, so what they lose together is measured instead: the posterior-mean network, with and without the input, on
the training data, each row counted once. Not guaranteed: where two inputs say the same, each alone looks irrelevant.
Oracle: the network with the column held at its mean. On the host: nothing compiles.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine.network import Network
from ..engine.predict import Affine, plain_outputs
from ..engine.state import State
from ..engine.turbo import row_probs
from ..factors.priors.base import rows_of, to_units

MOST_ROWS = 1000
"""Rows that are used: their sum stands for all rows."""


def some_rows(n_rows: int) -> np.ndarray:
    """The rows, or MOST_ROWS of them that are evenly spread."""
    return np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(int)


def lost_log_likelihood(
    network: Network, state: State, x: np.ndarray, y: np.ndarray, var: np.ndarray, ids: np.ndarray | None = None
) -> np.ndarray:
    """Nats lost on these rows without each input's group, (inputs,).

    `x` has the columns of the network and `ids` are their groups. Only the means are compared: `var` is the variance
    of the outputs of the full network, (rows, outputs), or that of the targets, noise included, (rows, targets).
    """
    layers: Any = jax.device_get(state.layers)
    noise_var = np.asarray(state.noise_var, np.float64)
    first, *rest = (
        Affine(row_probs(layer)[:, None] * layer.weight.mean.astype(np.float64), layer.bias.mean, layer.centre, place)
        for place, layer in zip(network.places, layers, strict=True)
    )
    inputs = first.inputs(network.enter(x))

    def log_likelihood(z: np.ndarray) -> float:
        y_mean = plain_outputs(network.activation, z, rest, network.places)[:, : var.shape[1]]
        return network.output.mean_log_likelihood(y_mean, var, y, noise_var)

    z, linear = first.of(inputs), first.place.linear
    outputs = np.arange(z.shape[-1])
    full = log_likelihood(z)
    lost = np.zeros(network.widths[0])
    groups = np.arange(len(lost)) if ids is None else np.asarray(ids)
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        rows = rows_of(own, len(lost), len(first.weight))
        seen = inputs[..., rows if inputs.shape[-1] == len(first.weight) else own]  # an image has channels alone
        part = linear.take(own, outputs).mix(seen, first.weight[rows])
        lost[own] = full - log_likelihood(z - part)
    return lost


def occam(state: State, counted: float, ids: np.ndarray | None = None) -> np.ndarray:
    """What each input's group costs, (inputs,): nats by which its weights narrow the base prior, data counted once."""
    layer: Any = jax.device_get(state.layers[0])
    var, base = layer.weight.var.astype(np.float64), float(layer.base_var)
    narrowed = np.maximum(base / np.where(var > 0, var, base) - 1, 0) / counted
    cost: Any = to_units(0.5 * np.log1p(narrowed).sum(1), len(layer.offset))
    if ids is None:
        return cost
    _, group = np.unique(ids, return_inverse=True)
    return np.bincount(group, cost)[group]
