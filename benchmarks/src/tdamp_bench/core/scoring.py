"""Scores of a model on a problem's test rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from .problems import Problem


class Model(Protocol):
    """What can be scored: `point` gives outputs, `predictive` class probabilities or the predictive mean."""

    def point(self, x: np.ndarray) -> np.ndarray:
        """Network outputs: class scores or regression outputs."""

    def predictive(self, x: np.ndarray) -> np.ndarray:
        """Class probabilities, or the mean of the predictive distribution."""


def error_rate(scores: np.ndarray, y: np.ndarray) -> float:
    """Share of rows whose largest score is not at their label."""
    return float(np.mean(np.argmax(scores, -1) != y))


def nll(probs: np.ndarray, y: np.ndarray) -> float:
    """Mean of -log P(label), natural logarithm."""
    own = np.take_along_axis(np.asarray(probs, np.float64), y[:, None], -1)[:, 0]
    return float(-np.mean(np.log(np.maximum(own, np.finfo(np.float32).tiny))))


def nmse(predicted: np.ndarray, y: np.ndarray, y_train: np.ndarray) -> float:
    """sum (y - predicted)^2 / sum (y - mean of y_train)^2, in float64."""
    y = np.asarray(y, np.float64)
    centre = np.asarray(y_train, np.float64).mean(0)
    return float(((y - predicted) ** 2).sum() / ((y - centre) ** 2).sum())


def score(model: Model, problem: Problem) -> dict[str, float]:
    """All scores of a model: by its point estimate and by its predictive distribution."""
    point, predictive = model.point(problem.x_test), model.predictive(problem.x_test)
    y = problem.y_test
    if problem.task == "regression":
        return {"nmse": nmse(point, y, problem.y), "nmse_predictive": nmse(predictive, y, problem.y)}
    return {
        "error": error_rate(point, y),
        "error_predictive": error_rate(predictive, y),
        "nll": nll(predictive, y),
    }


def append(curves: dict[str, Any], values: dict[str, float]) -> None:
    """Add one epoch's values to the lists of a run."""
    for key, value in values.items():
        curves.setdefault(key, []).append(value)


def mean_curve(runs: Iterable[dict[str, Any]], key: str) -> np.ndarray:
    """Mean over runs of a per-epoch list."""
    return np.mean([run[key] for run in runs], axis=0)


def at(curve: Sequence[float] | np.ndarray, epoch: int) -> float:
    """The curve's value after `epoch` epochs."""
    return float(curve[epoch - 1])
