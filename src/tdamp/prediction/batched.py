"""Prediction on the host: rows go batch by batch, padded so that tables of different lengths share a compilation."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine import compact
from ..engine.predict import mean_log_probs, mean_outputs, output_moments, predicted_log_probs
from ..numerics import gaussian_argmax
from ..numerics.beliefs import Moments
from ..numerics.distribution import Distribution
from ..numerics.scaling import ScaledRows
from ..training.batches import SMALL, padded_rows
from ..training.compiled import Program
from ..training.fitted import Fitted, active_units
from .relevance import lost_log_likelihood, some_rows

MOST_NUMBERS = 2**24
"""Size of the largest intermediate array of a batch."""

Rows = np.ndarray | ScaledRows

_moments = Program(output_moments, like=lambda *_: Moments(0, 0))  # type: ignore[arg-type]
_log_probs = Program(predicted_log_probs, like=lambda *_: 0)
_mean_log_probs = Program(mean_log_probs, like=lambda *_: 0)
_point = Program(mean_outputs, like=lambda *_: 0)


def moments(fitted: Fitted, x: Rows) -> Any:
    """`Moments` of the outputs under the posterior, with no variance if it predicts by its mean alone.

    `x` has every column of the network that was asked for.
    """
    if fitted.prediction == "mean":
        z = point(fitted, x)
        return Moments(z, np.zeros_like(z))  # type: ignore[arg-type]
    return Moments(*_in_batches(_moments, fitted, x, SMALL))


def log_probs(fitted: Fitted, x: Rows) -> np.ndarray:
    """Log class probabilities, (rows, classes)."""
    most = rows_at_once(fitted.network.widths[-1])
    program = _mean_log_probs if fitted.prediction == "mean" else _log_probs
    return _in_batches(program, fitted, x, most, fitted.state.noise_var)


def rows_at_once(n_classes: int) -> int:
    """Rows whose class probabilities are found together: their largest array has (rows, classes, nodes or classes)."""
    return max(1, MOST_NUMBERS // (n_classes * max(gaussian_argmax.NODES, n_classes)))


def point(fitted: Fitted, x: Rows) -> np.ndarray:
    """Outputs of the posterior-mean network."""
    return _in_batches(_point, fitted, x, SMALL)


def _in_batches(program: Program, fitted: Fitted, x: Rows, most: int, *more: Any) -> Any:
    """`program` of all rows, at most about `most` at a time; the units are padded as they are in training.

    At most two batches are held, one that is computed and one that is made: JAX returns before it has computed, and on
    a busy machine a queue of batches would be a copy of the table.
    """
    state, network, inputs = fitted.state, fitted.network, fitted.kept[0]
    bucket = 1 if network.shares_weights else compact.BUCKET
    if any(width % bucket for width in network.widths[:-1]):  # during training they are padded already
        state, network, index = compact.take(state, network, active_units(state), bucket)
        inputs = inputs[index[0]]
    columns = network.columns(inputs)
    if network.shares_weights:
        most = min(most, max(1, MOST_NUMBERS // network.n_seen))
    size = min(padded_rows(len(x)), 1 << (max(most, 1).bit_length() - 1))
    results: list[Any] = []
    for start in range(0, len(x), size):
        batch = x[start : start + size][:, columns].astype(state.layers[0].centre.dtype)
        full = np.concatenate([batch, np.zeros((size - len(batch), len(columns)), batch.dtype)])
        results.append(program(network, state.layers, full, *more))
        results[-2:-1] = [jax.tree.map(np.asarray, before) for before in results[-2:-1]]
    return jax.tree.map(lambda *parts: np.concatenate([np.asarray(part) for part in parts])[: len(x)], *results)


def predicted(fitted: Fitted, x: Rows) -> Distribution:
    """Predictive distribution of the targets in the engine's units, as wide as its calibration makes it."""
    raw = fitted.network.output.predictive(moments(fitted, x), np.asarray(fitted.state.noise_var))  # type: ignore[arg-type]
    return raw.stretched(fitted.calibration)


def log_scores(fitted: Fitted, x: Rows, y: np.ndarray) -> np.ndarray:
    """Log predictive density or probability of each row, x and y in the engine's units."""
    output = fitted.network.output
    if output.has_classes:
        return log_probs(fitted, x)[np.arange(len(x)), y]
    if output.is_calibrated:
        return predicted(fitted, x).log_density(y).sum(1)
    z, noise_var = moments(fitted, x), fitted.state.noise_var
    parts = [slice(start, start + SMALL) for start in range(0, len(x), SMALL)]
    scores = [output.log_scores(Moments(z.mean[rows], z.var[rows]), y[rows], noise_var) for rows in parts]  # type: ignore[arg-type]
    return np.concatenate([np.asarray(each, np.float64) for each in scores])


def lost_without_inputs(fitted: Fitted, x: np.ndarray, y: np.ndarray, ids: np.ndarray | None) -> np.ndarray:
    """By how much the log likelihood of these rows falls without each input, (inputs asked for,); `ids` are groups."""
    rows = some_rows(len(x))
    some = x[rows]
    if fitted.network.output.is_calibrated:
        var = predicted(fitted, some).var
    else:
        var = moments(fitted, some).var.astype(np.float64)
    kept, network = fitted.kept[0], fitted.network
    groups = None if ids is None else ids[kept]
    lost_there = lost_log_likelihood(network, fitted.state, some[:, fitted.inputs], y[rows], var, groups)
    lost = np.zeros(x.shape[1] if network.is_flat else network.widths[0])
    lost[kept] = lost_there * len(x) / len(rows)
    return lost
