"""Parameters of the estimators: which likelihood they stand for, and a fit of counts through all of them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from scipy import stats

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.estimators.parameters import group_ids_of, likelihood_of, network_of, settings_of
from tdamp.factors.likelihoods.catalog import LIKELIHOODS
from tdamp.factors.likelihoods.probit import Probit
from tdamp.numerics.beliefs import Moments

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1300, 3))
RATE = np.exp(0.8 * X[:, 0] + 0.5 * np.abs(X[:, 1]))
COUNTS = RNG.poisson(RATE)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "gaussian"),
        ({"noise": "varying"}, "heteroscedastic"),
        ({"likelihood": "heteroscedastic"}, "heteroscedastic"),
        ({"noise": "varying", "likelihood": "heteroscedastic"}, "heteroscedastic"),
        ({"likelihood": "poisson"}, "poisson"),
    ],
)
def test_likelihoods_of_a_regressor(options: dict[str, Any], name: str) -> None:
    """contract: `likelihood`, or what `noise` stands for; the network has as many outputs as that needs."""
    model = TDAMPRegressor((4,), **options)
    output = likelihood_of(model)
    assert output.name == name == network_of(model, 3, 2).output.name
    assert network_of(model, 3, 2).widths == (3, 4, 2 * output.outputs_per_target)
    assert likelihood_of(TDAMPClassifier()).name == "probit"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "probit"}, "likelihood='probit': expected None or one of 'gaussian'"),
        ({"likelihood": 3}, "likelihood=3: expected"),
        ({"likelihood": "gaussian", "noise": "varying"}, "leave one of them out"),
        ({"noise": "pink"}, 'noise=\'pink\': expected "constant" or "varying"'),
        ({"noise": ["constant"]}, "noise="),
    ],
)
def test_likelihoods_that_cannot_be(options: dict[str, Any], message: str) -> None:
    """contract: an error that says what may be given."""
    with pytest.raises(ValueError, match=message):
        TDAMPRegressor(**options).fit(X[:30], X[:30, 0])


class Flat(Probit):
    """A likelihood of classes that predicts in its own way: every other class half as likely as the first two."""

    name = "flat"

    def log_probs(self, z: Moments, noise_var: Array) -> Array:
        """The same in all rows."""
        return jax.nn.log_softmax(jnp.where(jnp.arange(z.mean.shape[-1]) < 2, jnp.log(2.0), 0.0) + 0 * z.mean)


def test_likelihoods_of_a_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: a classifier predicts and scores by the probabilities of its own likelihood, by the posterior and by
    its mean; those of regressions are refused."""
    monkeypatch.setitem(LIKELIHOODS, "flat", Flat())
    labels = np.digitize(X[:60, 0], [-0.5, 0.5])
    for prediction in ("posterior", "mean"):
        model = TDAMPClassifier((4,), likelihood="flat", max_epochs=2, prediction=prediction, random_state=0)
        model.fit(X[:60], labels)
        assert model.network_.output.name == "flat"
        np.testing.assert_allclose(model.predict_proba(X[:9]), [[0.4, 0.4, 0.2]] * 9, rtol=1e-6)
        assert model.score(X[:60], labels) == np.mean(labels == 0)
    with pytest.raises(ValueError, match="'flat' has no export yet"):
        model.to_plain()
    with pytest.raises(ValueError, match="likelihood='poisson': expected None or one of 'probit', 'flat'"):
        TDAMPClassifier(likelihood="poisson").fit(X[:60], labels)


def test_settings_and_groups() -> None:
    """contract: explicit parameters win, and groups are ids; the federation asks for the same."""
    model = TDAMPRegressor((4,), batch_size=17, early_stopping=False, groups=[[0, 2]])
    settings, holds_out = settings_of(model, network_of(model, 3, 1), 500)
    assert settings.batch_size == 17 and not holds_out
    ids = group_ids_of(model, 3)
    assert ids is not None and ids[0] == ids[2] != ids[1]


@pytest.fixture(scope="module")
def counts() -> TDAMPRegressor:
    """Trained on 300 rows, chosen by cross-validation."""
    return TDAMPRegressor((16,), likelihood="poisson", max_epochs=20, random_state=0).fit(X[:300], COUNTS[:300])


def test_counts_are_learned(counts: TDAMPRegressor) -> None:
    """calibration: of 1,000 new rows the log score is within 0.05 nats of the true rates', a constant's 0.3 away."""
    assert counts.y_mean_ == 0 and counts.y_scale_ == 1 and counts.fitted_.calibration is None
    assert counts.history_["held_out"].notna().any()
    truth = stats.poisson.logpmf(COUNTS[300:], RATE[300:]).mean()
    constant = stats.poisson.logpmf(COUNTS[300:], COUNTS[:300].mean()).mean()
    score = counts.log_score(X[300:], COUNTS[300:])
    assert truth - 0.05 < score < truth + 0.02 and constant < truth - 0.3
    mean, std = counts.predict(X[300:], return_std=True)
    assert np.corrcoef(mean, RATE[300:])[0, 1] > 0.95 and (std > np.sqrt(mean)).all()
    assert counts.feature_active_prob_[0] > 0.95 > 0.5 > counts.feature_active_prob_[2]


def test_quantiles_of_counts(counts: TDAMPRegressor) -> None:
    """calibration: 90 % intervals hold 90 % or more, as counts are whole; the distribution has the same quantiles."""
    low, high = counts.predict_interval(X[300:], 0.9).T
    assert 0.9 - 4 * 0.01 < np.mean((low <= COUNTS[300:]) & (COUNTS[300:] <= high)) < 0.995
    assert (low == np.floor(low)).all() and (high >= low).all()
    np.testing.assert_array_equal(
        np.transpose(counts.predict_distribution(X[300:]).interval(0.9)), np.stack([low, high], 1)
    )


def test_counts_by_the_posterior_mean_and_in_a_stream() -> None:
    """contract: finite scores near those of the posterior; a stream's next batch is learned; no counts are refused."""
    model = TDAMPRegressor((16,), likelihood="poisson", prediction="mean", max_epochs=5, random_state=0)
    model.fit(X[:300], COUNTS[:300])
    before = model.log_score(X[300:], COUNTS[300:])
    assert -1.8 < before < -1.0
    model.partial_fit(X[300:400], COUNTS[300:400])
    assert model.log_score(X[400:], COUNTS[400:]) > before - 0.2
    with pytest.raises(ValueError, match="no counts"):
        model.partial_fit(X[:5], X[:5, 0])
