"""TDAMPRegressor and TDAMPClassifier keep scikit-learn's contract and tell what the engine found.

covers: estimators.base, estimators.classifier, estimators.regressor, estimators.fitted_attributes
covers: estimators.fitting, estimators.validation, prediction.batched
"""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import t
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tdamp import Outcome, TDAMPClassifier, TDAMPRegressor, TrainingWarning
from tdamp.estimators import preprocess
from tdamp.numerics import gaussian_argmax
from tdamp.prediction import batched

Estimator = TDAMPRegressor | TDAMPClassifier


@pytest.fixture(scope="module")
def friedman() -> tuple[np.ndarray, np.ndarray]:
    """A curved function of the first five of ten inputs, with noise."""
    return make_friedman1(400, n_features=10, noise=1.0, random_state=0)


@pytest.fixture(scope="module")
def regressor(friedman: tuple[np.ndarray, np.ndarray]) -> TDAMPRegressor:
    """Fitted to 300 of the 400 rows."""
    X, y = friedman
    return TDAMPRegressor(random_state=0).fit(X[:300], y[:300])


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, np.ndarray]:
    """Three kinds of flowers, with their names."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def classifier(iris: tuple[pd.DataFrame, np.ndarray]) -> TDAMPClassifier:
    """Fitted to all of them."""
    return TDAMPClassifier((16,), random_state=0).fit(*iris)


@parametrize_with_checks([TDAMPRegressor(), TDAMPClassifier()])
def test_scikit_learn_contract(estimator: Estimator, check) -> None:
    """contract: scikit-learn's own checks of every estimator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)  # some checks train on constants or copies of the target
        check(estimator)


def test_regression_beats_a_line(regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """twin: on a curved target the held-out error is far below ridge regression's, with default settings."""
    X, y = friedman
    line = Ridge().fit(X[:300], y[:300])
    assert 1 - regressor.score(X[300:], y[300:]) < 0.6 * (1 - line.score(X[300:], y[300:]))


def test_the_relevant_inputs_are_found(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """golden(the target is made of the first five of ten inputs)"""
    X, y = friedman
    model = TDAMPRegressor(random_state=0).fit(X, y)
    assert model.feature_active_prob_.shape == (10,)
    assert model.feature_active_prob_[:5].min() > 0.9 and model.feature_active_prob_[5:].max() < 0.1
    np.testing.assert_array_equal(model.get_support(indices=True), range(5))


def test_predictive_parts_agree(regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """identity: std, interval and quantiles all follow from mean, epistemic and aleatoric standard deviation."""
    X = friedman[0][300:]
    result = regressor.predict_distribution(X)
    mean, std = regressor.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, result.mean)
    np.testing.assert_allclose(std, np.sqrt(result.epistemic_std**2 + result.aleatoric_std**2))
    np.testing.assert_allclose(result.aleatoric_std, np.sqrt(regressor.noise_var_[0]))
    low, high = regressor.predict_interval(X, 0.9).T
    reach = t.ppf(0.95, result.dof) * np.sqrt((result.dof - 2) / result.dof)  # of a Student's t with this std
    np.testing.assert_allclose(high - low, 2 * reach * std, rtol=1e-6)
    quantiles = regressor.predict_quantiles(X, (0.05, 0.5, 0.95))
    np.testing.assert_allclose(quantiles, np.stack([low, mean, high], 1))
    frame = regressor.predict_distribution(X, as_frame=True)
    assert list(frame.columns) == ["mean", "epistemic_std", "aleatoric_std", "dof"]
    np.testing.assert_array_equal(frame["mean"], mean)


@pytest.mark.parametrize(("level", "reach", "density"), [(0.5, 0.674, 0.318), (0.9, 1.645, 0.103), (0.95, 1.96, 0.058)])
def test_intervals_hold_what_they_promise(
    level: float, reach: float, density: float, regressor: TDAMPRegressor
) -> None:
    """calibration: of 4,000 new rows the share asked for lies inside, but for what chance allows at four sigma: that of
    the count, and that of a width told by 300 rows. The log of a standard deviation from n rows has the standard error
    sqrt(1 / 2n), and the share changes by 2 z phi(z) of it."""
    X, y = make_friedman1(4000, n_features=10, noise=1.0, random_state=1)
    low, high = regressor.predict_interval(X, level).T
    chance = np.hypot(np.sqrt(level * (1 - level) / 4000), 2 * reach * density * np.sqrt(1 / 600))
    assert abs(np.mean((y > low) & (y < high)) - level) < 4 * chance


def test_log_score(regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """identity: the mean log density of the observations under Student's t."""
    X, y = friedman
    result = regressor.predict_distribution(X)
    scale = result.std * np.sqrt((result.dof - 2) / result.dof)
    assert regressor.log_score(X, y) == pytest.approx(t.logpdf(y, result.dof, result.mean, scale).mean())


def test_samples_of_the_posterior_have_its_moments(
    regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]
) -> None:
    """rate: over 400 drawn networks mean and spread of the outputs are the predictive ones, as far as draws can tell.

    The moments are those of message passing, which neglects correlations between units: hence the loose spread.
    """
    X = friedman[0][:20]
    draws = np.array([sample(X)[:, 0] for sample in regressor.sample_posterior(400, random_state=0)])
    result = regressor.predict_distribution(X)
    epistemic_std = result.epistemic_std / np.sqrt(regressor.fitted_.calibration.epistemic)  # as the posterior has it
    assert (np.abs(draws.mean(0) - result.mean) < 5 * draws.std(0) / 20 + 0.3 * epistemic_std).all()
    assert 0.6 < np.median(draws.std(0) / epistemic_std) < 1.6


def test_several_outputs_have_noise_of_their_own(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """golden(noise of standard deviation 0.1 and 3 was put on two targets of different scale)"""
    X, _ = friedman
    rng = np.random.default_rng(0)
    Y = np.stack([X[:, 0] + 0.1 * rng.normal(size=400), 50 * X[:, 1] + 3 * rng.normal(size=400)], 1)
    model = TDAMPRegressor((32,), random_state=0).fit(X, Y)
    assert model.predict(X).shape == (400, 2)
    assert model.predict_interval(X).shape == (400, 2, 2)
    np.testing.assert_allclose(np.sqrt(model.noise_var_), [0.1, 3.0], rtol=0.35)


def test_noise_that_depends_on_the_inputs_is_found(tmp_path: Path) -> None:
    """golden(the noise's standard deviation is 0.1 for x < 0 and 1 for x > 0, which a constant one misses)"""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1000, 2))
    y = X[:, 1] + np.where(X[:, 0] > 0, 1.0, 0.1) * rng.normal(size=1000)
    new = np.array([[-0.7, 0.0], [0.7, 0.0]])
    varying, constant = (TDAMPRegressor((16,), noise=noise, max_epochs=40, random_state=0).fit(X, y)
                         for noise in ("varying", "constant"))  # fmt: skip
    quiet, loud = varying.predict_distribution(new).std
    assert 0.06 < quiet < 0.2 and 0.7 < loud < 1.4
    assert np.ptp(constant.predict_distribution(new).aleatoric_std) == 0
    test = rng.uniform(-1, 1, (500, 2))
    truth = test[:, 1] + np.where(test[:, 0] > 0, 1.0, 0.1) * rng.normal(size=500)
    assert varying.log_score(test, truth) > constant.log_score(test, truth) + 0.3
    varying.save(tmp_path)
    for a, b in zip(
        TDAMPRegressor.load(tmp_path).predict_distribution(new), varying.predict_distribution(new), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match='expected "constant" or "varying"'):
        TDAMPRegressor(noise="loud").fit(X, y)


def test_keep_is_exact_and_counts_inputs(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: the units that remain are exactly as many as asked for; relevant inputs survive."""
    X, y = friedman
    model = TDAMPRegressor((32,), keep=0.5, random_state=0).fit(X, y)
    assert model.n_units_ == 21 == sum(len(kept) for kept in model.fitted_.kept)
    assert set(range(5)) <= set(model.fitted_.inputs)
    assert model.transform(X).shape[1] == model.get_support().sum()
    by_layer = TDAMPRegressor((32,), keep=(0.5, 0.25), random_state=0).fit(X, y)
    assert by_layer.fitted_.network.widths == (5, 8, 1)


def test_groups_by_name_stay_or_go_together() -> None:
    """contract: columns listed as one group are all kept or all gone, given by name, position or id."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    y = X["a"] + X["b"] + X["c"] + 0.1 * rng.normal(size=300)
    for groups in ([["a", "b", "c"], ["d", "e"]], [[0, 1, 2], [3, 4]], [0, 0, 0, 1, 1, 2]):
        model = TDAMPRegressor((8,), keep=9, groups=groups, max_epochs=20, random_state=0).fit(X, y)
        left = "".join(X.columns[model.fitted_.inputs])
        assert left.startswith("abc") and ("d" in left) == ("e" in left)
    with pytest.raises(ValueError, match="'z', which X does not have"):
        TDAMPRegressor((8,), groups=[["a", "z"]]).fit(X, y)


def test_compact_takes_out_what_is_not_needed(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: units that the group prior found unneeded leave, and the predictions hardly change."""
    X, y = friedman
    model = TDAMPRegressor((32,), prior="group", early_stopping=False, random_state=0).fit(X, y)
    before, full = model.predict(X), model.n_units_
    likely = sum(int((np.asarray(layer.active_prob) >= 0.5).sum()) for layer in model.fitted_.state.layers)
    assert model.compact() is model and model.n_units_ == likely < full
    assert np.abs(model.predict(X) - before).max() < 0.1 * y.std()


def test_classifier(classifier: TDAMPClassifier, iris: tuple[pd.DataFrame, np.ndarray]) -> None:
    """twin: as accurate as logistic regression on iris; probabilities sum to one and are those of the labels."""
    X, y = iris
    probs = classifier.predict_proba(X)
    np.testing.assert_allclose(probs.sum(1), 1)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[probs.argmax(1)])
    assert classifier.score(X, y) >= LogisticRegression(max_iter=1000).fit(X, y).score(X, y) - 0.02
    own = probs[np.arange(150), np.searchsorted(classifier.classes_, y)]
    assert classifier.log_score(X, y) == pytest.approx(np.log(own).mean(), rel=1e-5)
    assert classifier.predict_distribution(X, as_frame=True).shape == (150, 9)
    assert list(classifier.feature_names_in_) == list(X.columns)


def test_an_unknown_class_is_refused(classifier: TDAMPClassifier, iris: tuple[pd.DataFrame, np.ndarray]) -> None:
    """contract: a label training never saw is named, with those it knew."""
    with pytest.raises(ValueError, match=r"'rose', which training did not.*setosa"):
        classifier.log_score(iris[0][:2], ["rose", "setosa"])


def test_blocks_do_not_change_predictions(
    classifier: TDAMPClassifier, iris: tuple[pd.DataFrame, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """identity: rows in blocks of 64 get the probabilities they get in one block."""
    whole = classifier.predict_proba(iris[0])
    monkeypatch.setattr(batched, "MOST_NUMBERS", 64 * 3 * gaussian_argmax.NODES)
    np.testing.assert_allclose(classifier.predict_proba(iris[0]), whole, rtol=1e-5)


@pytest.mark.parametrize("kind", ["pandas", "polars", "float32", "fortran", "lists"])
def test_tables_of_every_kind(kind: str, regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """identity: the same numbers in another container give the same predictions (float32: to its precision)."""
    X, y = friedman[0][:300], friedman[1][:300]
    names = [f"x{i}" for i in range(10)]
    table = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "float32": lambda: X.astype(np.float32),
        "fortran": lambda: np.asfortranarray(X),
        "lists": X.tolist,
    }[kind]()
    model = clone(regressor).fit(table, y.tolist() if kind == "lists" else y)
    loose = dict(rtol=0.05, atol=0.5) if kind == "float32" else dict(rtol=1e-6)
    np.testing.assert_allclose(model.predict(table), regressor.predict(X), **loose)
    assert hasattr(model, "feature_names_in_") == (kind in ("pandas", "polars"))


def test_streaming_learns_and_equals_nothing_twice() -> None:
    """rate: the error falls and the posterior sharpens as batches come; every datum is counted once."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = X[:, 0] - 2 * X[:, 1] * (X[:, 1] > 0) + 0.1 * rng.normal(size=2000)
    model = TDAMPRegressor((32,), random_state=0)
    scores, spreads = [], []
    for start in range(0, 1500, 250):
        model.partial_fit(X[start : start + 250], y[start : start + 250])
        result = model.predict_distribution(X[1500:])
        scores.append(model.score(X[1500:], y[1500:]))
        spreads.append(result.epistemic_std.mean())
    assert scores[-1] > 0.9 and scores[-1] > scores[0]
    assert spreads[-1] < 0.7 * spreads[0]
    assert model.n_iter_ == 6


def test_streaming_classes_must_be_known(iris: tuple[pd.DataFrame, np.ndarray]) -> None:
    """contract: classes given first may come later; others are refused by name."""
    X, y = iris
    model = TDAMPClassifier((16,), random_state=0).partial_fit(X[:50], y[:50], classes=np.unique(y))
    model.partial_fit(X[50:], y[50:])
    assert model.predict_proba(X).shape == (150, 3)
    with pytest.raises(ValueError, match="'rose'"):
        model.partial_fit(X[:1], ["rose"])


def test_warm_start_goes_on(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: the second fit's history continues the first one's, and its evidence is better."""
    X, y = friedman
    model = TDAMPRegressor((32,), max_epochs=5, warm_start=True, early_stopping=False, random_state=0)
    first = model.fit(X, y).history_["log_evidence"].iloc[-1]
    model.fit(X, y)
    assert list(model.history_.index) == list(range(1, 11))
    assert model.history_["log_evidence"].iloc[-1] > first


def test_a_callback_ends_training(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: True after the second epoch leaves two in the history."""
    X, y = friedman
    model = TDAMPRegressor((32,), callbacks=[lambda epoch, fitted, record: epoch == 2], random_state=0).fit(X, y)
    assert model.n_iter_ == 2


def test_weights_count_as_copies_in_any_order() -> None:
    """identity: whole weights train like repeated rows, weight zero like no row, and the order of rows is nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=24)
    weight = rng.integers(0, 3, 24)
    model = TDAMPRegressor((8,), max_epochs=5, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    order = rng.permutation(weight.sum())
    copied = clone(model).fit(np.repeat(X, weight, 0)[order], np.repeat(y, weight)[order])
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))
    with pytest.raises(ValueError, match="at least one non-zero"):
        clone(model).fit(X, y, sample_weight=np.zeros(24))


def test_weights_stay_weights_where_copies_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: in one full batch weighted rows train like their copies, to float32, and unlike rows without weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=24)
    weight = rng.integers(0, 3, 24)
    given = dict(batch_size=64, max_epochs=5, sweeps=1, data_weight=1.0, early_stopping=False, random_state=0)
    given["noise_rate"] = 0.01  # as the others: what is chosen by the number of rows is given
    copied = TDAMPRegressor((8,), **given).fit(X, y, sample_weight=weight).predict(X)
    monkeypatch.setattr(preprocess, "MOST_COPIES", 0)
    weighted = TDAMPRegressor((8,), **given).fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(weighted, copied, rtol=2e-3, atol=2e-3)
    assert np.abs(TDAMPRegressor((8,), **given).fit(X, y).predict(X) - copied).max() > 0.02


def test_history_of_no_epoch(regressor: TDAMPRegressor) -> None:
    """contract: a training that fails in its first epoch has an empty frame, and probabilities all the same."""
    model = pickle.loads(pickle.dumps(regressor))
    model.fitted_ = replace(model.fitted_, history=(), epoch=0)
    assert len(model.history_) == 0 and model.n_iter_ == 0 and np.isfinite(model.feature_active_prob_).all()


def test_class_weight_moves_the_border() -> None:
    """rate: the more a class counts, the more often it is predicted; "balanced" lifts the rare one."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (270, 2)), rng.normal(1.2, 1, (30, 2))])
    y = np.repeat([0, 1], [270, 30])
    plain, balanced = (
        TDAMPClassifier((8,), class_weight=w, max_epochs=20, random_state=0).fit(X, y) for w in (None, "balanced")
    )
    assert balanced.predict(X).mean() > 2 * plain.predict(X).mean()


def test_in_pipelines_and_searches(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """twin: pipeline, cross-validation (in two processes too) and grid search work as with any estimator."""
    X, y = friedman
    model = TDAMPRegressor((32,), max_epochs=10, random_state=0)
    inside = make_pipeline(StandardScaler(), clone(model))
    scores = cross_val_score(inside, X, y, cv=2)
    np.testing.assert_allclose(scores, cross_val_score(inside, X, y, cv=2, n_jobs=2), rtol=1e-4)
    search = GridSearchCV(model, {"data_weight": [1.0, 5.0]}, cv=2).fit(X, y)
    assert search.best_params_["data_weight"] == 5.0  # ten epochs at weight one are too few: see the docs


def test_pickles_after_predict(regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """identity: a copy through pickle predicts the same bits."""
    X, _ = friedman
    regressor.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(regressor)).predict(X), regressor.predict(X))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(hidden_layer_sizes=(8, 0)), "hidden_layer_sizes"),
        (dict(activation="tanh"), "activation='tanh'.*relu"),
        (dict(prior="laplace"), "prior='laplace'.*group"),
        (dict(keep=1.5), "keep=1.5"),
        (dict(keep=(0.5,)), "expected 2 fractions"),
        (dict(batch_size=0), "batch_size=0"),
        (dict(data_weight=-1.0), "data_weight"),
        (dict(validation_fraction=1.0), "validation_fraction"),
        (dict(groups=[0, 1]), "groups has shape"),
    ],
)
def test_bad_parameters_are_refused(change: dict, words: str, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: each raises ValueError that names the parameter and what it may be, at fit and not before."""
    model = TDAMPRegressor(**{"hidden_layer_sizes": (8,), **change})
    with pytest.raises(ValueError, match=words):
        model.fit(*friedman)


def test_bad_levels_are_refused(regressor: TDAMPRegressor, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: quantiles and coverages outside (0, 1)."""
    with pytest.raises(ValueError, match="quantiles"):
        regressor.predict_quantiles(friedman[0], (0.0, 0.5))
    with pytest.raises(ValueError, match="coverage"):
        regressor.predict_interval(friedman[0], 95)


def test_a_training_that_went_wrong_warns() -> None:
    """golden(a target that is a copy of an input is fitted without error: the noise falls to its floor)"""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    with pytest.warns(TrainingWarning, match="lower bound"):
        model = TDAMPRegressor((), data_weight=50.0, max_epochs=60, early_stopping=False, random_state=0).fit(
            X, X[:, 0]
        )
    assert model.fitted_.outcome is Outcome.NOISE_AT_FLOOR


def test_no_scaling_when_not_wanted(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """contract: without standardize the scales are zero and one."""
    X, y = friedman
    model = TDAMPRegressor((32,), standardize=False, max_epochs=3, random_state=0).fit(X, y)
    assert (model.x_mean_ == 0).all() and (model.x_scale_ == 1).all() and (model.y_scale_ == 1).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e30])
def test_any_scale_is_sane(scale: float, friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """identity: scaled inputs and targets give scaled predictions."""
    X, y = friedman
    model = TDAMPRegressor((32,), max_epochs=5, random_state=0)
    plain = clone(model).fit(X, y).predict(X)
    np.testing.assert_allclose(clone(model).fit(X * scale, y * scale).predict(X * scale) / scale, plain, rtol=1e-2)


def test_samples_where_the_noise_varies(friedman: tuple[np.ndarray, np.ndarray]) -> None:
    """rate: drawn networks give the targets only, in their units, and their mean over 200 draws is the predicted one.

    The logs of the noise that the network has beside them, of a scale near one, must not be taken for targets near 100.
    """
    X, y = friedman
    for Y in (100 + 5 * y, np.stack([100 + 5 * y, -y], 1)):
        model = TDAMPRegressor((16,), noise="varying", max_epochs=5, early_stopping=False, random_state=0).fit(X, Y)
        draws = np.array([sample(X[:20]) for sample in model.sample_posterior(200, random_state=0)])
        result = model.predict_distribution(X[:20])
        assert draws.shape == (200, 20, Y.reshape(len(Y), -1).shape[1])
        error = np.abs(draws.mean(0) - result.mean.reshape(20, -1))
        assert (error < 5 * draws.std(0) / np.sqrt(200) + 0.3 * result.epistemic_std.reshape(20, -1)).all()
