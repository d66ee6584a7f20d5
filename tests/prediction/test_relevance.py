"""P(needed) of inputs by the log-likelihood lost without them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr
from sklearn.datasets import make_friedman1

from tdamp import TDAMPClassifier, TDAMPRegressor, mean_network
from tdamp.prediction import batched
from tdamp.prediction.relevance import lost_log_likelihood

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
CURVE = 2 * np.abs(X[:, 0]) + X[:, 1] * (X[:, 1] > 0) + 0.3 * X[:, 2]


@pytest.fixture(scope="module")
def regressor() -> TDAMPRegressor:
    """Three inputs matter, one of them little."""
    return TDAMPRegressor((16,), random_state=0, early_stopping=False).fit(X, CURVE + 0.2 * RNG.normal(size=400))


def test_regression_equals_holding_the_column_at_its_mean(regressor: TDAMPRegressor) -> None:
    """twin: the Gaussian log-likelihood of the posterior-mean network with a column held at its training mean."""
    y = regressor.y_mean_ + 0 * CURVE  # any target will do: the engine's units are rebuilt below
    fitted = regressor.fitted_
    x = regressor._scaled(X)
    own = batched.moments(fitted, x).var
    var = own + np.asarray(fitted.state.noise_var)
    target = np.asarray(y - regressor.y_mean_) / regressor.y_scale_

    def log_likelihood(rows: np.ndarray) -> float:
        mean = np.asarray(mean_network(fitted.network, fitted.state.layers, rows.astype(np.float32)))
        return float(-0.5 * ((target[:, None] - mean) ** 2 / var).sum())

    found = lost_log_likelihood(fitted.network, fitted.state, x, target[:, None], var)
    for column in range(6):
        held = x.copy()
        held[:, column] = np.asarray(fitted.state.layers[0].centre)[column]
        assert found[column] == pytest.approx(log_likelihood(x) - log_likelihood(held), rel=1e-3, abs=0.05)


def test_what_matters_is_found(regressor: TDAMPRegressor) -> None:
    """golden(the target is made of the first three inputs)"""
    prob = regressor.feature_active_prob_
    assert prob[:3].min() > 0.95 and prob[3:].max() < 0.2


def test_classification_by_the_label_s_margins() -> None:
    """twin: the sum over rivals of log Phi of the margin, row by row in a loop."""
    labels = np.digitize(CURVE, [1.0, 2.0])
    model = TDAMPClassifier((16,), random_state=0, max_epochs=20).fit(X, labels)
    fitted, x = model.fitted_, model._scaled(X)
    var, noise = batched.moments(fitted, x).var.astype(np.float64), float(fitted.state.noise_var)
    found = lost_log_likelihood(fitted.network, fitted.state, x, labels, var)

    def log_likelihood(rows: np.ndarray) -> float:
        mean = np.asarray(mean_network(fitted.network, fitted.state.layers, rows), np.float64)
        total = 0.0
        for i, own in enumerate(labels):
            for other in {0, 1, 2} - {own}:
                spread = np.sqrt(noise + var[i, own] + var[i, other])
                total += log_ndtr((mean[i, own] - mean[i, other]) / spread)
        return total

    held = x.copy()
    held[:, 0] = np.asarray(fitted.state.layers[0].centre)[0]
    assert found[0] == pytest.approx(log_likelihood(x) - log_likelihood(held), rel=1e-3)
    assert found[0] > found[3:].max()


def test_groups_and_removed_inputs() -> None:
    """identity: columns of a group share their loss; inputs that are gone have none and probability zero."""
    y = CURVE + 0.2 * RNG.normal(size=400)
    model = TDAMPRegressor((16,), groups=[[0, 1], [3, 4]], keep=(0.5, 1.0), max_epochs=20, random_state=0).fit(X, y)
    lost, prob = model.lost_log_likelihood_, model.feature_active_prob_
    assert lost[0] == lost[1] > 0 and prob[0] == prob[1]
    gone = np.setdiff1d(np.arange(6), model.fitted_.inputs)
    assert len(gone) and (lost[gone] == 0).all() and (prob[gone] == 0).all()


def test_a_stream_adds_up() -> None:
    """identity: each call adds the loss of its own rows."""
    y = CURVE + 0.2 * RNG.normal(size=400)
    model = TDAMPRegressor((16,), random_state=0)
    total = 0.0
    for start in (0, 200):
        before = model.lost_log_likelihood_[0] if start else 0.0
        model.partial_fit(X[start : start + 200], y[start : start + 200])
        total += model.lost_log_likelihood_[0] - before
    assert model.lost_log_likelihood_[0] == pytest.approx(total) and total > 0


def test_a_pruned_table_keeps_what_matters() -> None:
    """golden(Friedman's function is made of the first five of ten inputs; a fifth of the units is kept)"""
    table, y = make_friedman1(600, noise=1.0, random_state=1)
    model = TDAMPRegressor(keep=0.2, random_state=0).fit(table[:300], y[:300])
    assert model.n_units_ == round(0.2 * 138)
    assert set(range(5)) <= set(model.fitted_.inputs.tolist())
    assert model.score(table[300:], y[300:]) > 0.85
