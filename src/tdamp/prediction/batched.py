"""Prediction on the host: rows go block by block, padded so that tables of different lengths share a compilation."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine import compact
from ..engine.network import Network
from ..engine.predict import mean_log_probs, mean_outputs, output_moments, predicted_log_probs
from ..factors.likelihoods.heteroscedastic import mean_noise
from ..numerics import gaussian_argmax
from ..numerics.beliefs import Moments
from ..numerics.scaling import ScaledRows
from ..training.batches import SMALL, padded_rows
from ..training.calibration import Predicted
from ..training.compiled import Program
from ..training.fitted import Fitted, active_units
from .relevance import lost_log_likelihood, some_rows

MOST_NUMBERS = 2**24
"""Of the largest intermediate array of a block."""


_moments = Program(output_moments, like=lambda *_: Moments(0, 0))  # type: ignore[arg-type]
_log_probs = Program(predicted_log_probs, like=lambda *_: 0)
_mean_log_probs = Program(mean_log_probs, like=lambda *_: 0)
_point = Program(mean_outputs, like=lambda *_: 0)


def moments(fitted: Fitted, x: np.ndarray | ScaledRows) -> Any:
    """`Moments` of the outputs under the posterior, with no variance if it predicts by its mean alone.

    `x` has every column of the network that was asked for.
    """
    if fitted.prediction == "mean":
        z = point(fitted, x)
        return Moments(z, np.zeros_like(z))  # type: ignore[arg-type]
    return Moments(*_in_blocks(_moments, fitted, x, SMALL))


def log_probs(fitted: Fitted, x: np.ndarray | ScaledRows) -> np.ndarray:
    """Log class probabilities, (rows, classes)."""
    most = rows_at_once(fitted.network.widths[-1])
    program = _mean_log_probs if fitted.prediction == "mean" else _log_probs
    return _in_blocks(program, fitted, x, most, fitted.state.noise_var)


def rows_at_once(n_classes: int) -> int:
    """Rows whose class probabilities are found together: their largest array has (rows, classes, nodes or classes)."""
    return max(1, MOST_NUMBERS // (n_classes * max(gaussian_argmax.NODES, n_classes)))


def point(fitted: Fitted, x: np.ndarray | ScaledRows) -> np.ndarray:
    """Outputs of the posterior-mean network."""
    return _in_blocks(_point, fitted, x, SMALL)


def _in_blocks(program: Program, fitted: Fitted, x: np.ndarray | ScaledRows, most: int, *more: Any) -> Any:
    """`program` of all rows, at most about `most` at a time; the units are padded as they are in training.

    At most two blocks are held, one that is computed and one that is made: JAX returns before it has computed, and on
    a busy machine a queue of blocks would be a copy of the table.
    """
    state, network, columns = fitted.state, fitted.network, fitted.kept[0]
    if any(width % compact.BUCKET for width in network.widths[:-1]):  # during training they are padded already
        state, network, index = compact.take(state, network, active_units(state), compact.BUCKET)
        columns = columns[index[0]]
    size = min(padded_rows(len(x)), 1 << (max(most, 1).bit_length() - 1))
    found: list[Any] = []
    for start in range(0, len(x), size):
        block = x[start : start + size][:, columns].astype(state.layers[0].centre.dtype)
        full = np.concatenate([block, np.zeros((size - len(block), len(columns)), block.dtype)])
        found.append(program(network, state.layers, full, *more))
        found[-2:-1] = [jax.tree.map(np.asarray, before) for before in found[-2:-1]]
    return jax.tree.map(lambda *parts: np.concatenate([np.asarray(part) for part in parts])[: len(x)], *found)


def predicted(fitted: Fitted, x: np.ndarray | ScaledRows) -> Predicted:
    """A regression's prediction, in the engine's units, as wide as its calibration makes it."""
    raw = predicted_of(fitted.network, moments(fitted, x), np.asarray(fitted.state.noise_var))
    return raw.stretched(fitted.calibration)


def predicted_of(network: Network, z: Any, noise_var: Any) -> Predicted:
    """The same, from the outputs' moments and the noise (of all rows, or of each), not stretched."""
    n = network.n_targets
    if network.noise == "varying":
        noise_var = mean_noise(z, noise_var)
    mean, var, noise_var = (np.asarray(a, np.float64) for a in (*z, noise_var))
    return Predicted(mean[:, :n], var[:, :n], np.broadcast_to(noise_var, (len(mean), n)), np.full(n, np.inf))


def log_scores(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Log predictive density or probability of each row, x and y in the engine's units."""
    if fitted.network.task == "classification":
        return log_probs(fitted, x)[np.arange(len(x)), y]
    return predicted(fitted, x).log_density(y).sum(1)


def lost_without_inputs(fitted: Fitted, x: np.ndarray, y: np.ndarray, ids: np.ndarray | None) -> np.ndarray:
    """By how much the log likelihood of these rows falls without each input, (inputs asked for,); `ids` are groups."""
    rows = some_rows(len(x))
    some = x[rows]
    if fitted.network.task == "classification":
        var = moments(fitted, some).var.astype(np.float64)
    else:
        full = predicted(fitted, some)
        var = full.epistemic_var + full.noise_var
    groups = None if ids is None else ids[fitted.inputs]
    found = lost_log_likelihood(fitted.network, fitted.state, some[:, fitted.inputs], y[rows], var, groups)
    lost = np.zeros(x.shape[1])
    lost[fitted.inputs] = found * len(x) / len(rows)
    return lost
