"""sparsity_path: one row for each size, scored on rows not trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1

from tdamp import TDAMPClassifier, TDAMPRegressor, metrics, sparsity_path

KEEPS = (1.0, 0.5, 8)


def test_regression_path(tmp_path: Path) -> None:
    """identity: sizes are exactly those asked for; the scores are the metrics of the models' own predictions."""
    X, y = make_friedman1(300, n_features=8, noise=0.5, random_state=0)
    found = sparsity_path(TDAMPRegressor((16,), max_epochs=20, random_state=0), X[:200], y[:200], KEEPS, X_test=X[200:],
                          y_test=y[200:])  # fmt: skip
    assert found.frame["units"].tolist() == [24, 12, 8] == [model.n_units_ for model in found.models]
    assert (found.frame["params"].diff().dropna() < 0).all()
    for row, model in zip(found.frame.itertuples(), found.models, strict=True):
        made = model.predict_distribution(X[200:])
        assert row.rmse == pytest.approx(np.sqrt(np.mean((y[200:] - made.mean) ** 2)))
        assert row.log_score == pytest.approx(metrics.log_score(y[200:], made.mean, made.std, made.dof))
        assert 0 <= row.calibration_error <= 1
    found.plot(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5000


def test_classification_path() -> None:
    """contract: a part of the rows is split off, the same for every size."""
    X, y = load_iris(return_X_y=True)
    estimator = TDAMPClassifier((16,), max_epochs=20, random_state=0)
    found = sparsity_path(estimator, X, y, (1.0, 0.5), random_state=3)
    again = sparsity_path(estimator, X, y, (1.0,), random_state=3)
    assert found.measure == "error"
    drop = "seconds"
    assert found.frame.drop(columns=drop).iloc[0].tolist() == again.frame.drop(columns=drop).iloc[0].tolist()
    with pytest.raises(ValueError, match="both"):
        sparsity_path(estimator, X, y, X_test=X)
