"""sparsity_path: one row for each size, scored on rows not trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_friedman1

from tdamp import TDAMPClassifier, TDAMPRegressor, metrics, sparsity_path
from tdamp.training.outcome import TrainingWarning

KEEPS = (1.0, 0.5, 8)


def test_regression_path(tmp_path: Path) -> None:
    """identity: sizes are exactly those asked for; the scores are the metrics of the models' own predictions."""
    X, y = make_friedman1(300, n_features=8, noise=0.5, random_state=0)
    model = TDAMPRegressor((16,), max_epochs=20, random_state=0)
    result = sparsity_path(model, X[:200], y[:200], KEEPS, X_test=X[200:],
                          y_test=y[200:])  # fmt: skip
    assert result.frame["units"].tolist() == [24, 12, 8] == [model.n_units_ for model in result.models]
    assert (result.frame["params"].diff().dropna() < 0).all()
    for row, model in zip(result.frame.itertuples(), result.models, strict=True):
        made = model.predict_distribution(X[200:])
        assert row.rmse == pytest.approx(np.sqrt(np.mean((y[200:] - made.mean) ** 2)))
        assert row.log_score == pytest.approx(metrics.log_score(y[200:], made.mean, made.std, made.dof))
        assert 0 <= row.calibration_error <= 1
    result.plot(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5000


def test_classification_path() -> None:
    """contract: a part of the rows is split off, the same for every size."""
    X, y = load_iris(return_X_y=True)
    estimator = TDAMPClassifier((16,), max_epochs=20, random_state=0)
    result = sparsity_path(estimator, X, y, (1.0, 0.5), random_state=3)
    again = sparsity_path(estimator, X, y, (1.0,), random_state=3)
    assert result.measure == "error"
    drop = ["seconds", "lost", "lost_se"]  # these depend on the other sizes
    assert result.frame.drop(columns=drop).iloc[0].tolist() == again.frame.drop(columns=drop).iloc[0].tolist()
    with pytest.raises(ValueError, match="both"):
        sparsity_path(estimator, X, y, X_test=X)


def test_errors_are_those_of_the_rows() -> None:
    """identity: standard errors by the jackknife; losses against the best model of the path, row by row."""
    X, y = make_friedman1(400, n_features=8, noise=1.0, random_state=0)
    X_test, y_test = X[200:], y[200:]
    result = sparsity_path(TDAMPRegressor((16,), max_epochs=20, random_state=0), X[:200], y[:200], KEEPS, X_test=X_test,
                          y_test=y_test)  # fmt: skip
    scores = [[model.log_score(X_test[i : i + 1], y_test[i : i + 1]) for i in range(200)] for model in result.models]
    best = scores[int(result.frame["log_score"].argmax())]
    for row, model, own in zip(result.frame.itertuples(), result.models, scores, strict=True):
        squares = np.square(y_test - model.predict(X_test))
        without = np.sqrt((squares.sum() - squares) / 199)
        assert row.rmse_se == pytest.approx(np.sqrt(199 / 200 * np.square(without - without.mean()).sum()), rel=0.02)
        assert row.log_score_se == pytest.approx(np.std(own) / 200**0.5, rel=1e-4)
        assert row.lost == pytest.approx(np.subtract(best, own).mean(), abs=1e-5)
        assert row.lost_se == pytest.approx(np.subtract(best, own).std() / 200**0.5, abs=1e-5)
    within = result.frame[result.frame["lost"] <= result.frame["lost_se"]]
    assert result.frame["units"][result.smallest] == within["units"].min()


def test_copies_make_no_error_smaller() -> None:
    """identity: rows to score that stand in the table four times have the standard errors of the rows themselves."""
    X, y = make_friedman1(260, n_features=5, noise=1.0, random_state=0)
    estimator = TDAMPRegressor((8,), max_epochs=10, random_state=0)
    once, often = (
        sparsity_path(estimator, X[:200], y[:200], (1.0, 8), X_test=X[rows], y_test=y[rows]).frame
        for rows in (np.arange(200, 260), np.tile(np.arange(200, 260), 4))
    )
    for name in ("rmse_se", "log_score_se", "lost_se"):
        np.testing.assert_allclose(often[name], once[name], rtol=1e-5)


def test_what_went_at_each_step_by_name() -> None:
    """contract: the columns that a model lacks and the next larger one has, whatever the order of the sizes."""
    X, y = make_friedman1(200, n_features=8, noise=1.0, random_state=0)
    table = pd.DataFrame(X, columns=[f"column {i}" for i in range(8)])
    result = sparsity_path(TDAMPRegressor((4,), max_epochs=20, random_state=0), table, y, (6, 1.0, 0.75))
    left = [set(table.columns[model.fitted_.inputs]) for model in result.models]
    small, full, middle = (set(names) for names in result.frame["removed"])
    assert not full and middle == left[1] - left[2] and small == left[2] - left[0] and small


def test_fits_that_warned() -> None:
    """contract: the column says which fits warned."""
    X, y = make_friedman1(400, n_features=5, noise=0.1, random_state=0)
    with pytest.warns(TrainingWarning, match="pruning to 3 of 13"):
        result = sparsity_path(TDAMPRegressor((8,), random_state=0), X, y, (1.0, 3))
    assert result.frame["warned"].tolist() == [False, True]
