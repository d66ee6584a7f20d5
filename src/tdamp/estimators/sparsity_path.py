"""Accuracy, log score and calibration against size: one estimator fitted at several values of `keep`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable

from .. import metrics
from .._optional import need
from ..training.equal_rows import drawn_rows, kinds_of
from ..training.pruning_loss import MeanLoss
from .regressor import TDAMPRegressor
from .validation import hints

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Coverages whose mean deviation is the calibration error of a regression."""


class SparsityPath:
    """Fitted models along a path, and a frame with a row for each: see `sparsity_path`."""

    def __init__(self, frame: pd.DataFrame, models: list[Any]) -> None:
        self.frame, self.models = frame, models

    def plot(self, path: Any = None) -> Any:
        """Error, log score and calibration error against the units that remain (extra `report`); saved if `path`.

        Bars are standard errors; a line marks the smallest network that loses nothing, if there is one.
        """
        figure = need("matplotlib.figure", "report").Figure(figsize=(10, 3.2), layout="constrained")
        for axes, name in zip(figure.subplots(1, 3), (self.measure, "log_score", "calibration_error"), strict=True):
            axes.errorbar(self.frame["units"], self.frame[name], self.frame.get(f"{name}_se"), fmt="o-", capsize=3)
            axes.axvline(self.frame["units"][self.smallest], color="0.5", ls=":")
            axes.set(xlabel="units that remain", ylabel=name.replace("_", " "), xscale="log")
            axes.grid(alpha=0.3)
        if path is not None:
            figure.savefig(path)
        return figure

    @property
    def smallest(self) -> int:
        """The row of the smallest network whose log score is within a standard error of the best: what `keep="auto"`
        asks for."""
        good = self.frame[self.frame["lost"] <= self.frame["lost_se"]]
        return int(good["units"].idxmin())

    @property
    def measure(self) -> str:
        """What the error column is: "rmse" or "error"."""
        return "rmse" if "rmse" in self.frame else "error"

    def __repr__(self) -> str:
        return self.frame.to_string()


def sparsity_path(
    estimator: Any,
    X: Any,
    y: Any,
    keeps: Sequence[float | int] = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1),
    *,
    X_test: Any = None,
    y_test: Any = None,
    test_size: float = 0.25,
    random_state: int = 0,
) -> SparsityPath:
    """Fit a copy of `estimator` for every `keep` and score it on rows it was not trained on.

    The rows are `X_test`, `y_test`, or a part of X, y that is split off, equal rows together. The frame has keep,
    units, inputs, params, multiply_adds, the error (rmse of a regression, share of wrong labels of a classification),
    log_score, calibration_error (mean deviation of the coverage of central intervals; expected calibration error),
    and seconds. rmse_se or error_se and log_score_se are standard errors, which copies of a row do not make smaller;
    lost is the log score that the best network of the path has more, row by row, and lost_se the standard error of this
    difference; removed are the columns that the next larger network of the path still had; warned says whether the fit
    warned that its pruning costs something.
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("give both X_test and y_test, or neither")
    if X_test is None:
        X, X_test, y, y_test = _split_off(X, y, test_size, random_state, not isinstance(estimator, TDAMPRegressor))
    codes = np.unique(np.asarray(y_test), return_inverse=True, axis=0)[1].ravel()
    kinds = kinds_of(_flat(X_test), codes)
    rows, models, log_scores = [], [], []
    for keep in keeps:
        model = clone(estimator).set_params(keep=keep).fit(X, y)
        network, loss = model.fitted_.network, model.pruning_loss_
        log_scores.append(model._log_scores(X_test, y_test))
        rows.append(
            {
                "keep": keep,
                "units": model.n_units_,
                "inputs": network.widths[0],
                "params": network.n_params,
                "multiply_adds": network.n_multiply_adds,
                **_scores(model, X_test, y_test, kinds),
                "log_score_se": _std_error(log_scores[-1], kinds),
                "seconds": float(model.history_["seconds"].sum()),
                "warned": loss is not None and loss.hurts,
            }
        )
        models.append(model)
    best = log_scores[int(np.argmax([scores.mean() for scores in log_scores]))]
    losses = [MeanLoss.of(best - scores, kinds) for scores in log_scores]
    frame = pd.DataFrame(rows).assign(
        lost=[loss.mean for loss in losses],
        lost_se=[loss.std_error for loss in losses],
        removed=_removed(models),
    )
    return SparsityPath(frame, models)


def _removed(models: list[Any]) -> list[tuple[str, ...]]:
    """Names of the columns that each model lacks and the next larger one has; the largest is compared with all."""
    names = getattr(models[0], "feature_names_in_", None) if models else None
    before: Any = None
    removed: list[tuple[str, ...]] = [()] * len(models)
    for i in sorted(range(len(models)), key=lambda i: -models[i].n_units_):
        inputs = models[i].fitted_.inputs
        gone = np.setdiff1d(np.arange(models[i].network_.widths[0]) if before is None else before, inputs)
        removed[i] = tuple(str(column if names is None else names[column]) for column in gone)
        before = inputs
    return removed


def _split_off(X: Any, y: Any, test_size: float, seed: int, classes: bool) -> tuple[Any, ...]:
    """Rows to train on and rows to score: X, X_test, y, y_test."""
    if not 0 < test_size < 1:
        raise ValueError(f"test_size={test_size!r}: expected a share of the rows between 0 and 1, such as 0.25")
    with hints():
        X, y = indexable(X, y)
        numbers = _flat(X), np.asarray(y, None if classes else np.float64)
    test = drawn_rows(*numbers, test_size, seed, classes=classes)
    if not test.any():
        raise ValueError(
            f"{len(test)} rows leave none to score (equal rows stay together): give more rows that differ, or X_test "
            "and y_test"
        )
    return tuple(_safe_indexing(a, np.flatnonzero(rows)) for a in (X, y) for rows in (~test, test))


def _flat(X: Any) -> np.ndarray:
    """Rows of numbers, of a table or of images."""
    numbers = np.asarray(X, np.float64)
    return numbers if numbers.ndim < 3 else numbers.reshape(len(numbers), -1)


def _scores(model: Any, X: Any, y: Any, kinds: np.ndarray) -> dict[str, float]:
    log_score = model.log_score(X, y)
    if isinstance(model, TDAMPRegressor):
        predicted = model.predict_distribution(X)
        mean, y = predicted.mean, np.asarray(y, np.float64).reshape(predicted.mean.shape)
        misses = [abs(predicted.covered(y, level) - level) for level in LEVELS]
        rmse, squares = metrics.rmse(y, mean), np.square(y - mean).reshape(len(y), -1).mean(1)
        errors = {"rmse": rmse, "rmse_se": _std_error(squares, kinds) / (2 * rmse) if rmse else 0.0}
        return {**errors, "log_score": log_score, "calibration_error": float(np.mean(misses))}
    probs = model.predict_proba(X)
    codes = np.searchsorted(model.classes_, np.asarray(y))
    error, calibration = metrics.error_rate(codes, probs), metrics.ece(codes, probs)
    errors = {"error": error, "error_se": _std_error(codes != probs.argmax(1), kinds)}
    return {**errors, "log_score": log_score, "calibration_error": calibration}


def _std_error(values: np.ndarray, kinds: np.ndarray) -> float:
    """The standard error of the mean; rows of one kind are one observation."""
    return MeanLoss.of(values.astype(np.float64), kinds).std_error
