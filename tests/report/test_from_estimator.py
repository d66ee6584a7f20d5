"""From a fitted estimator to its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1

from tdamp import TDAMPClassifier, TDAMPRegressor, sparsity_path
from tdamp.persistence.model_card import card
from tdamp.report import facts_of, held_of


def test_regression(tmp_path: Path) -> None:
    """identity: noise in the units of y, predictions those of the model, the path's frame in the page."""
    X, y = make_friedman1(200, n_features=6, random_state=0)
    path = sparsity_path(TDAMPRegressor((8,), max_epochs=10, random_state=0), X, 100 * y, (1.0, 0.5))
    model = path.models[0]
    held = held_of(model, X, 100 * y, "all rows")
    facts = facts_of(model, held)
    assert facts.history[facts.epoch - 1]["noise_var"][0] == pytest.approx(model.noise_var_[0], rel=1e-5)
    np.testing.assert_array_equal(held.mean, model.predict(X))
    model.report(tmp_path / "page.html", X, 100 * y, title="Friedman & friends", sparsity_path=path)
    page = (tmp_path / "page.html").read_text()
    assert "Friedman &amp; friends" in page and "rows given for the report" in page
    with pytest.raises(ValueError, match="both X and y"):
        model.report(tmp_path / "page.html", X)


def test_a_model_without_noise_shows_none(tmp_path: Path) -> None:
    """contract: neither the number nor the picture of a noise level that counts never learned; nor the model card."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = rng.poisson(np.exp(X[:, 0]))
    for likelihood, has_noise in (("poisson", False), ("gaussian", True)):
        model = TDAMPRegressor((4,), likelihood=likelihood, max_epochs=2, random_state=0).fit(X, y)
        model.report(tmp_path / "page.html", X, y)
        page = (tmp_path / "page.html").read_text()
        assert "Training time" in page and all((word in page) == has_noise for word in ("Noise level", "noise var"))
        assert ("Noise variance" in card(model)) == has_noise


def test_classification_with_frame(tmp_path: Path) -> None:
    """identity: class codes, feature names and labels of a frame."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["a", "b", "c"])[y]
    model = TDAMPClassifier((8,), max_epochs=5, random_state=0).fit(X, labels)
    held = held_of(model, X, labels, "all")
    np.testing.assert_array_equal(held.y, y)
    facts = facts_of(model, held)
    assert facts.classes == ("a", "b", "c") and facts.feature_names == tuple(X.columns)
    model.report(tmp_path / "page.html")
    assert "petal length" in (tmp_path / "page.html").read_text()
