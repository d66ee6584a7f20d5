"""All scores of one way to give class probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import entr

from tdamp import metrics

from .sets import Sets

Probs = Callable[[np.ndarray], np.ndarray]
"""From rows of pixels to (rows, classes)."""
BINS = 15


def entropy(probs: np.ndarray) -> np.ndarray:
    """-sum over classes of p log p, in nats, for each row."""
    return entr(np.asarray(probs, np.float64)).sum(1)


def doubt(probs: np.ndarray) -> np.ndarray:
    """1 - the largest probability, for each row."""
    return 1 - np.asarray(probs, np.float64).max(1)


UNCERTAINTIES = {"entropy": entropy, "max_prob": doubt}


def scores(probs: Probs, sets: Sets) -> dict[str, Any]:
    """On the test digits, by angle, on the sets without digits (AUROC), and on scikit-learn's digits."""
    inside = probs(sets.test)
    turned = {str(angle): shifted(sets.y_test, probs(x)) for angle, x in sets.turned.items()}
    outside = {}
    for name, x in sets.outside.items():
        there = probs(x)
        outside[name] = {how: metrics.ood_auroc(of(inside), of(there)) for how, of in UNCERTAINTIES.items()}
    small = shifted(sets.y_small, probs(sets.small))
    return {"test": on_test(sets.y_test, inside), "turned": turned, "outside": outside, "small_digits": small}


def on_test(y: np.ndarray, probs: np.ndarray) -> dict[str, Any]:
    """Error, NLL (nats), calibration errors, Brier score, area under the risk-coverage curve, and the bins."""
    wrong = probs.argmax(1) != y
    bins = metrics.reliability(y, probs, BINS)
    return {
        "error": metrics.error_rate(y, probs),
        "nll": -metrics.class_log_score(y, probs),
        "ece": metrics.ece(y, probs, BINS),
        "adaptive_ece": metrics.adaptive_ece(y, probs, BINS),
        "brier": metrics.brier(y, probs),
        "aurc": metrics.aurc(wrong, doubt(probs)),
        "reliability": {name: _legal(values) for name, values in bins._asdict().items()},
    }


def shifted(y: np.ndarray, probs: np.ndarray) -> dict[str, float]:
    """Error, NLL and mean entropy."""
    return {
        "error": metrics.error_rate(y, probs),
        "nll": -metrics.class_log_score(y, probs),
        "entropy": float(entropy(probs).mean()),
    }


def _legal(values: np.ndarray) -> list[float | None]:
    """JSON has no NaN, which an empty bin holds."""
    return [None if np.isnan(value) else value for value in values.tolist()]
