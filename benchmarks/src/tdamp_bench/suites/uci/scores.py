"""Scores of an answer, and their means over splits with standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdamp.metrics import rmse

from .tasks import Answer

LEVEL = 0.95
KEYS = ("rmse", "nll", "coverage", "width", "seconds")
Scores = dict[str, Any]
"""Of one split: the numbers named by KEYS, and `chosen`."""


def score(answer: Answer, y: np.ndarray) -> Scores:
    """RMSE, mean of -log density, share of rows in their 95 % interval and its mean width, in the units of y.

    A prediction that is not finite has an infinite RMSE, NLL and width, and covers nothing.
    """
    predictive = answer.predictive
    interval = predictive.interval(LEVEL)
    extra = {"seconds": answer.seconds, "chosen": answer.chosen}
    if not np.isfinite(predictive.mean).all() or not np.isfinite(interval).all():
        return {"rmse": np.inf, "nll": np.inf, "coverage": 0.0, "width": np.inf} | extra
    return {
        "rmse": rmse(y, predictive.mean),
        "nll": -predictive.log_score(y),
        "coverage": float(np.mean((interval[:, 0] <= y) & (y <= interval[:, 1]))),
        "width": float(np.mean(interval[:, 1] - interval[:, 0])),
    } | extra


def summary(splits: dict[str, Scores]) -> dict[str, Any]:
    """Mean of every score, and standard errors of the mean: deviation / sqrt(splits), 0 for a single split."""
    values = {key: np.array([float(scores[key]) for scores in splits.values()]) for key in KEYS}
    count = len(splits)
    errors = {
        key: float(value.std(ddof=1) / np.sqrt(count)) if count > 1 and np.isfinite(value).all() else 0.0
        for key, value in values.items()
    }
    return {"splits": count, "mean": {key: float(value.mean()) for key, value in values.items()}, "error": errors}
