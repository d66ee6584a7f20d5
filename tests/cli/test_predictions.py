"""Predictions of the commands: their scores, and how they are stored."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score

from tdamp import TDAMPRegressor
from tdamp.cli.predictions import held, held_from_json, names_of, predict, scores, table, to_json
from tdamp.estimators import Distribution
from tdamp.numerics.distribution import CountDistribution
from tdamp.report import Held

LIGHT = 1e9
"""Degrees of freedom that make a Gaussian, and that JSON can hold."""


def gaussian_predictions(rows: int = 40) -> Held:
    """True values, and predictions of another mean with a standard deviation of 0.5."""
    rng = np.random.default_rng(1)
    y, mean = rng.normal(size=rows), rng.normal(size=rows)
    return held(Distribution(mean, *np.full((2, rows), [[0.3], [0.4]]), np.full(rows, LIGHT)), y, ("y",))


def test_scores_of_a_regression() -> None:
    """twin: scikit-learn's R2; coverage counted by hand with the std 0.5 = hypot(0.3, 0.4)."""
    known = gaussian_predictions()
    result, errors = scores(known, ("y",)), known.y - known.distribution.mean
    assert result["r2"] == pytest.approx(r2_score(known.y, known.distribution.mean))
    assert result["rmse"] ** 2 == pytest.approx(np.mean(errors**2))
    assert result["coverage_95"] == np.mean(np.abs(errors) <= 1.959964 * 0.5)
    assert scores(held(known.distribution, np.full(40, 2.0), ("y",)), ("y",))["r2"] is None  # no spread to explain


def test_scores_of_several_targets() -> None:
    """identity: the log score is the sum over targets, R2 their mean, and each has its RMSE."""
    one = gaussian_predictions()
    both = Distribution(
        *(np.stack([part, 2 * part], 1) for part in one.distribution[:3]), np.full((len(one.y), 2), LIGHT)
    )
    result = scores(held(both, np.stack([one.y, 2 * one.y], 1), ("a", "b")), ("a", "b"))
    alone = scores(one, ("y",))
    assert result["log_score"] == pytest.approx(2 * alone["log_score"] - np.log(2))
    assert result["r2"] == pytest.approx(alone["r2"])
    assert result["by_target"]["b"]["rmse"] == pytest.approx(2 * alone["rmse"])


def test_scores_of_classes() -> None:
    """twin: scikit-learn's accuracy and log loss."""
    rng = np.random.default_rng(2)
    classes = np.array(["a", "b", "c"])
    probs = rng.dirichlet(np.ones(3), 50)
    y = rng.choice(classes, 50)
    result = scores(held(probs, y, classes), classes)
    assert result["accuracy"] == pytest.approx(accuracy_score(y, classes[probs.argmax(1)]))
    assert result["log_score"] == pytest.approx(-log_loss(y, probs, labels=classes))


def test_stored_predictions_come_back() -> None:
    """identity: through JSON and back to seven digits."""
    known = gaussian_predictions()
    result = held_from_json(json.loads(json.dumps(to_json(known))), "test rows")
    np.testing.assert_allclose(result.y, known.y, rtol=1e-6)
    np.testing.assert_allclose(result.std, known.std, rtol=1e-6)


def test_counts() -> None:
    """identity: intervals of counts are whole, of at least 0, and leave half of the rest of all probability, summed
    over counts, on either side; their log score is that of the estimator; stored ones stay counts."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 2))
    y = rng.poisson(np.exp(0.3 + 0.5 * x[:, 0]))
    model = TDAMPRegressor((4,), likelihood="poisson", max_epochs=5, early_stopping=False, random_state=0).fit(x, y)
    predicted, names = predict(model, x), names_of(model, ["y"])
    assert isinstance(predicted, CountDistribution)
    frame = table(predicted, names, 0.9)
    low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
    assert (low >= 0).all() and (low % 1 == 0).all() and (high % 1 == 0).all()
    count = np.arange(200.0)[:, None]
    prob = np.exp(predicted.log_density(count))
    below, above = ((prob * (side * count > side * ends)).sum(0) for side, ends in ((-1, low), (1, high)))
    assert (below < 0.05 + 1e-5).all() and (above < 0.05 + 1e-5).all()
    np.testing.assert_array_equal(model.predict_interval(x, 0.9), frame[["low", "high"]])
    known = held(predicted, y, names)
    result = scores(known, names)
    assert result["log_score"] == pytest.approx(model.log_score(x, y), abs=1e-5)
    assert result["coverage_95"] == known.distribution.covered(y, 0.95)
    back = held_from_json(json.loads(json.dumps(to_json(known), allow_nan=False)), "test rows")
    np.testing.assert_array_equal(back.distribution.quantile(0.975), predicted.quantile(0.975))
