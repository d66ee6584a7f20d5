"""From a user's table to what can be trained: checked rows, scales, network and settings.

The estimators, the federation and its clients all begin here: `check_rows` is the one check of a table.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings, check_network
from ..numerics.scaling import channel_scales, identity_scales, input_scales, mean_and_std, scaled
from ..selection.refit import check_search
from ..training.data import Data
from ..training.fitted import Fitted
from ..training.outcome import TrainingWarning, users_level
from ..training.repeats import repeats_by_design, warn_of_copies
from ..training.stored import Streamed
from . import validation
from .defaults import counted_once
from .images import n_channels
from .parameters import anneals, is_auto, network_of, of_whole, settings_of, with_goal

MOST_COPIES = 4
"""Times as many rows, at most, when weights are taken as copies."""
MOST_SORTED = 1_000_000
"""Numbers in a table whose rows are sorted before training."""

Scales = tuple[np.ndarray, np.ndarray]
"""Mean and scale of each column."""


@dataclass(frozen=True)
class Prepared:
    """What an estimator is to train: the network, rows in the engine's units, and how.

    A `fraction` of the rows may be held out (None: none), and `others` are settings that rows held out may prefer.
    `start` is the fit to continue; where it `streams`, all rows are new to it. With settings for the `whole` network
    rows held out choose how many units remain, from all down to the goal of `settings`.
    """

    network: Network
    data: Data | Streamed
    settings: Settings
    fraction: float | None = None
    start: Fitted | None = None
    others: Sequence[Settings] = ()
    streams: bool = False
    whole: Sequence[Settings] = ()


def prepare(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Prepared:
    """What `fit` is to train; the estimator learns its columns and scales, unless it continues its last fit."""
    start = continued(estimator)
    network, data = prepare_rows(estimator, X, y, sample_weight, first=start is None)
    settings, holds_out = settings_of(estimator, network, len(data.x))
    fraction = estimator.validation_fraction if holds_out else None
    if fraction is not None:
        warn_of_copies(data.x, data.y)
    compares = is_auto(estimator.data_weight) and anneals(estimator, network, len(data.x)) and network.is_flat
    plain = (settings, *([counted_once(settings)] if compares else []))
    aimed = [aim for one in plain for aim in with_goal(estimator, network, one)]
    whole = of_whole(estimator, plain)
    if whole:
        check_search(aimed[0], len(data.x), fraction is not None, start is not None)
    return Prepared(network, data, aimed[0], fraction, start, aimed[1:], whole=whole)


def continued(estimator: Any) -> Fitted | None:
    """The fit that the next one continues, with `warm_start`."""
    return getattr(estimator, "fitted_", None) if bool(estimator.warm_start) else None


def prepare_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, first: bool, classes: Any = None
) -> tuple[Network, Data]:
    """The network, and rows in the engine's units; on the `first` fit the estimator learns scales and classes."""
    X, y, weight = check_rows(estimator, X, y, sample_weight, reset=first)
    if first:
        estimator.x_mean_, estimator.x_scale_ = _x_scales(estimator, X, weight)
        if len(X) == 1:
            warnings.warn(
                "X has one row: neither scales nor noise can be learned from it, and predictions are hardly more "
                "than the prior. Use more rows; scales stay those of the first call, in partial_fit too.",
                TrainingWarning,
                stacklevel=users_level(),
            )
        estimator._learn_targets(y, weight, classes)
    data = Data(scaled("X", X, estimator.x_mean_, estimator.x_scale_), estimator._engine_targets(y), weight)
    network = network_of(estimator)
    check_network(network)
    check_continues(estimator, network, first)
    return network, data


def _x_scales(estimator: Any, X: np.ndarray, weight: np.ndarray) -> Scales:
    """Mean and scale of each column of checked rows: its own, or those of its channel."""
    if not estimator.standardize:
        return identity_scales(X.shape[1])
    channels = None if estimator.layers is None else n_channels(estimator)
    return input_scales(X, weight) if channels is None else channel_scales(*mean_and_std(X, weight), channels)


def check_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and weights as numbers, y of a classifier as labels: the rows in an order of their own, weights that are
    whole numbers as copies. With `reset` the estimator learns its columns, otherwise they must be those it knows."""
    X, y, weight = validation.checked(estimator, X, y, sample_weight, reset)
    return sorted_rows(*counted_rows(X, y, weight))


def check_continues(estimator: Any, network: Network, first: bool) -> None:
    """Raise ValueError if the parameters ask for another network than that of the fit to continue."""
    if not first and network != replace(estimator.network_):  # one of version 0.1 does not name its likelihood
        raise ValueError(
            f"the parameters now ask for {network}, but the last fit was of {estimator.network_}: to go on with it "
            "keep its layers, activation and noise, or begin anew (fit with warm_start=False)"
        )


def scale_rows(
    X: np.ndarray, y: np.ndarray, weight: Any, x_scales: Scales, y_scales: Scales, classes: np.ndarray | None = None
) -> Data:
    """Checked rows in the engine's units, as scales that were agreed on make them; ValueError for a number that is too
    far away for float32. With `classes` y are labels, all of them known, and have no scales."""
    if classes is None:
        y = scaled("y", y.astype(np.float64).reshape(len(y), -1), *y_scales)
    else:
        y = np.searchsorted(classes, y).astype(np.int32)
    return Data(scaled("X", X, *x_scales), y, np.asarray(weight, np.float32))


def counted_rows(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of weight zero left out, and rows of weight k put in k times if all weights are whole numbers.

    So a weight is the same as copies, minibatches and all; where that would be too many rows, or where equal rows are
    no copies (`training.repeats`), weights stay weights.
    """
    counts = weight.astype(np.int64)  # at most `validation.MOST_WEIGHT`
    few = (counts == weight).all() and counts.sum() <= MOST_COPIES * len(weight)
    if few and ((counts <= 1).all() or not repeats_by_design(X, y)):
        return np.repeat(X, counts, 0), np.repeat(y, counts, 0), np.ones(counts.sum())
    there = weight > 0
    return X[there], y[there], weight[there]


def sorted_rows(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of a small table in an order of their own, so that the order they come in changes nothing."""
    if X.size > MOST_SORTED:
        return X, y, weight
    order = np.lexsort((*np.reshape(y, (len(y), -1)).T, *X.T, weight))
    return X[order], y[order], weight[order]
