"""Predictions of the commands: their scores, and how they are stored."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score

from tdamp.cli.predictions import Predictions, held_from_json
from tdamp.estimators import Distribution

LIGHT = 1e9
"""Degrees of freedom that make a Gaussian, and that JSON can hold."""


def gaussian_predictions(rows: int = 40) -> tuple[np.ndarray, Predictions]:
    """True values, and predictions of another mean with a standard deviation of 0.5."""
    rng = np.random.default_rng(1)
    y, mean = rng.normal(size=rows), rng.normal(size=rows)
    return y, Predictions(
        Distribution(mean, *np.full((2, rows), [[0.3], [0.4]]), np.full(rows, LIGHT)), None, ("y",), None
    )


def test_scores_of_a_regression() -> None:
    """twin: scikit-learn's R2; coverage counted by hand with the std 0.5 = hypot(0.3, 0.4)."""
    y, predictions = gaussian_predictions()
    scores = predictions.scores(y)
    assert predictions.distribution is not None
    assert scores["r2"] == pytest.approx(r2_score(y, predictions.distribution.mean))
    assert scores["rmse"] ** 2 == pytest.approx(np.mean((y - predictions.distribution.mean) ** 2))
    assert scores["coverage_95"] == np.mean(np.abs(y - predictions.distribution.mean) <= 1.959964 * 0.5)
    assert predictions.scores(np.full(40, 2.0))["r2"] is None  # no spread to explain


def test_scores_of_several_targets() -> None:
    """identity: the log score is the sum over targets, R2 their mean, and each has its RMSE."""
    y, one = gaussian_predictions()
    assert one.distribution is not None
    both = Distribution(*(np.stack([part, 2 * part], 1) for part in one.distribution[:3]), np.full((len(y), 2), LIGHT))
    scores = Predictions(both, None, ("a", "b"), None).scores(np.stack([y, 2 * y], 1))
    alone = one.scores(y)
    assert scores["log_score"] == pytest.approx(2 * alone["log_score"] - np.log(2))
    assert scores["r2"] == pytest.approx(alone["r2"])
    assert scores["by_target"]["b"]["rmse"] == pytest.approx(2 * alone["rmse"])


def test_scores_of_classes() -> None:
    """twin: scikit-learn's accuracy and log loss."""
    rng = np.random.default_rng(2)
    classes = np.array(["a", "b", "c"])
    probs = rng.dirichlet(np.ones(3), 50)
    y = rng.choice(classes, 50)
    scores = Predictions(None, probs, ("y",), classes).scores(y)
    assert scores["accuracy"] == pytest.approx(accuracy_score(y, classes[probs.argmax(1)]))
    assert scores["log_score"] == pytest.approx(-log_loss(y, probs, labels=classes))


def test_stored_predictions_come_back() -> None:
    """identity: through JSON and back to seven digits."""
    y, predictions = gaussian_predictions()
    held = held_from_json(json.loads(json.dumps(predictions.to_json(y))), "test rows")
    assert predictions.distribution is not None
    np.testing.assert_allclose(held.y, y, rtol=1e-6)
    np.testing.assert_allclose(held.std, predictions.distribution.std, rtol=1e-6)
