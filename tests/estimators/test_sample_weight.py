"""Weights of rows and of classes: what they count as, together, in streams, and when they are a mistake."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tdamp import Batches, TDAMPClassifier, TDAMPRegressor, TrainingWarning
from tdamp.estimators import validation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + RNG.normal(size=200)
LABELS = (Y > 0.5).astype(int)
HEAVY = {0: 1.0, 1: 3.0}


def classifier(**changes: object) -> TDAMPClassifier:
    """Trained in a moment."""
    return TDAMPClassifier((8,), **({"max_epochs": 5, "random_state": 0} | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["arrays", "source", "stream", "classes"])
def test_weights_that_make_one_row_of_all_are_warned_of(kind: str) -> None:
    """contract: the sum and the remedy, at the caller's line; weights up to half a row and more are no matter."""
    light, model = np.full(200, 1 / 200), TDAMPRegressor((8,), max_epochs=2, random_state=0)
    with pytest.warns(TrainingWarning, match=r"mean of 0\.00\d+.*rows count as 1: .*sample_weight\.mean\(\)") as caught:
        if kind == "arrays":
            model.fit(X, Y, light)
        elif kind == "source":
            model.fit(Batches([(X, Y, light)]))
        elif kind == "stream":
            model.partial_fit(X, Y, light)
        else:
            classifier(class_weight=HEAVY).fit(X, LABELS, light)
    assert [w.filename for w in caught if "mean of" in str(w.message)] == [__file__]


@pytest.mark.parametrize(
    ("largest", "mean", "warned"),
    [
        (0.49, 0.49, "little"), (0.5, 0.5, ""), (1.0, 1.0, ""), (1.0, 0.1, ""), (0.6, 0.09, "little"), (40.0, 29.0, ""),
        (1e5, 31.0, "more than"), (1e9, 2.0, ""),
    ],
)  # fmt: skip
def test_weights_that_are_a_mistake(largest: float, mean: float, warned: str) -> None:
    """contract: rows that count as hardly any, or as many each; beyond float32 is refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        validation.check_weights(largest, 10 * mean, 10)
    assert [warned in str(w.message) for w in caught] == ([True] if warned else [])
    for bad in (1e-10, 1e10, np.nan):
        with pytest.raises(ValueError, match="divide the weights by their mean"):
            validation.check_weights(bad, 1.0, 1)


@pytest.mark.parametrize("weight", [1.0, 100.0, 400.0])
def test_the_noise_of_heavy_rows(weight: float) -> None:
    """rate: rows of one weight, however heavy, do not make the noise that of the last minibatch: it is within a factor
    1.5 of the truth (with weights for rows it was twice)."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    y = x @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        model = TDAMPRegressor((8,), early_stopping=False, random_state=0).fit(x, y, np.full(400, weight))
    assert 2 / 3 < model.noise_var_ / 0.25 < 3 / 2


def test_sources_refuse_what_arrays_refuse() -> None:
    """contract: a weight that float32 has no room for."""
    with pytest.raises(ValueError, match="divide the weights by their mean"):
        TDAMPRegressor((8,)).fit(Batches([(X, Y, np.full(200, 1e12))]))


def test_class_weight_multiplies_sample_weight() -> None:
    """identity: both together are their product over the mean of the classes' weights, given as weights of the rows."""
    weight = RNG.uniform(0.5, 2, 200)
    by_class = np.where(LABELS, 3.0, 1.0)
    both = classifier(class_weight=HEAVY).fit(X, LABELS, weight).predict_proba(X)
    plain = classifier().fit(X, LABELS, weight * by_class / by_class.mean()).predict_proba(X)
    np.testing.assert_allclose(both, plain, rtol=1e-5)
    for other in (classifier(class_weight=HEAVY).fit(X, LABELS), classifier().fit(X, LABELS, weight)):
        assert np.abs(other.predict_proba(X) - both).max() > 0.01


def test_class_weight_in_a_stream() -> None:
    """identity: rows weighed by the dictionary, whose mean over the classes is one, whatever a batch holds of them."""
    weight = RNG.uniform(0.5, 2, 200)
    one_step = {"standardize": False, "batch_size": 64}  # heavier rows come in another order, and move the scales
    result, twin = classifier(class_weight=HEAVY, **one_step), classifier(**one_step)
    for rows in (np.arange(60), np.flatnonzero(LABELS == 1)[-30:]):  # the second batch is of one class
        result.partial_fit(X[rows], LABELS[rows], [0, 1], weight[rows])
        twin.partial_fit(X[rows], LABELS[rows], [0, 1], weight[rows] * np.where(LABELS[rows], 1.5, 0.5))
    np.testing.assert_allclose(result.predict_proba(X), twin.predict_proba(X), rtol=1e-3)
    plain = classifier().partial_fit(X, LABELS, [0, 1])
    heavy = classifier(class_weight=HEAVY).partial_fit(X, LABELS, [0, 1])
    assert heavy.predict_proba(X)[:, 1].mean() > 1.1 * plain.predict_proba(X)[:, 1].mean()


def test_class_weights_of_a_stream_that_are_refused() -> None:
    """contract: "balanced", which no batch can tell, and what `fit` refuses; the model is as it was."""
    model = classifier(class_weight="balanced")
    with pytest.raises(ValueError, match=r'class_weight="balanced" needs all labels.*give a dictionary'):
        model.partial_fit(X, LABELS)
    assert not hasattr(model, "classes_")
    with pytest.raises(ValueError, match="expected a dictionary"):
        model.set_params(class_weight={0: -1.0}).partial_fit(X, LABELS)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_more_than_half_may_be_held_out(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: validation_fraction=0.6 stops by 120 of 200 rows; it is no way to switch that off."""
    monkeypatch.setattr("tdamp.selection.refit.CROSS_VALIDATED_ROWS", 0)
    if task == "classification":
        model = classifier(validation_fraction=0.6, early_stopping=True, prior="group").fit(X, LABELS)
    else:
        model = TDAMPRegressor(
            (8,), keep=0.8, prior="group", max_epochs=5, validation_fraction=0.6, random_state=0
        ).fit(X, Y)
    assert model.history_["held_out"].notna().all()
    assert model.fitted_.unseen is not None and len(model.fitted_.unseen) == 120
