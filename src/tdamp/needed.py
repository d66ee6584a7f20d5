"""How much is each input needed? The log-likelihood that is lost when its weights are set to zero.

The evidence of a group by its own weights (group_spike_slab) takes them one by one. The weights of an input act
together, so what they lose together is measured instead: the posterior-mean network, with and without the input, on
the training data, each row counted once. Not guaranteed: where two inputs say the same, each alone looks unneeded.
Oracle: a network trained without the input (tests), and the network with the column held at its mean.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from scipy.special import log_ndtr

from . import blocks
from .posterior import activate
from .training import Fitted
from .turbo import posterior

MOST_ROWS = 1000
"""Rows that are looked at; their sum stands for all rows."""


def lost_log_likelihood(fitted: Fitted, x: np.ndarray, y: np.ndarray, ids: np.ndarray | None) -> np.ndarray:
    """Nats lost without each input's group, for every input of the network asked for; 0 for inputs removed already."""
    rows = np.linspace(0, len(x) - 1, min(len(x), MOST_ROWS)).astype(int)
    known, targets = x[rows][:, fitted.inputs].astype(np.float64), y[rows]
    var = blocks.moments(fitted, x[rows]).var.astype(np.float64)
    means = [(layer.centre, *(m.mean for m in posterior(layer))) for layer in fitted.state.layers]
    layers = [[np.asarray(part, np.float64) for part in layer] for layer in means]
    centred = known - layers[0][0]
    z = centred @ layers[0][1] + layers[0][2]

    def log_likelihood(z: np.ndarray) -> float:
        for centre, weight, bias in layers[1:]:
            z = (activate(fitted.network.activation, z) - centre) @ weight + bias
        noise_var = np.asarray(jax.device_get(fitted.state.noise_var), np.float64)
        return _log_likelihood(fitted.network.task, z, var, targets, noise_var)

    full = log_likelihood(z)
    found = np.zeros(x.shape[1])
    groups = np.arange(x.shape[1]) if ids is None else ids
    for group in np.unique(groups[fitted.inputs]):
        here = groups[fitted.inputs] == group
        lost = full - log_likelihood(z - centred[:, here] @ layers[0][1][here])
        found[fitted.inputs[here]] = lost * len(x) / len(rows)
    return found


def _log_likelihood(task: str, z: np.ndarray, var: np.ndarray, y: np.ndarray, noise_var: np.ndarray) -> float:
    """Of the outputs' means `z`, with the variance they had in full: only the means are compared."""
    if task == "regression":
        return float(-0.5 * ((y - z) ** 2 / (var + noise_var)).sum())
    own = np.arange(len(y)), y
    margin = (z[own][:, None] - z) / np.sqrt(noise_var + var + var[own][:, None])
    score: Any = log_ndtr(margin)
    score[own] = 0.0
    return float(score.sum())


def occam(fitted: Fitted, l: int, counted: float) -> np.ndarray:
    """What the weights of each unit of layer `l` cost, (units,): nats by which they narrow the base prior, data counted
    once."""
    layer: Any = jax.device_get(fitted.state.layers[l])
    var, base = np.asarray(layer.weight.var, np.float64), float(layer.base_var)
    narrowed = np.maximum(base / np.where(var > 0, var, base) - 1, 0) / counted
    return 0.5 * np.log1p(narrowed).sum(1)
