"""Estimators of images: forms of X, scales, layers, what they cost, what is refused; saved, pruned, federated.

covers: federated.terms
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tdamp
from tdamp import (
    AvgPool,
    Batches,
    Conv,
    Dense,
    FixedFilter,
    Residual,
    TDAMPClassifier,
    TDAMPRegressor,
    sparsity_path,
)
from tdamp.estimators import defaults
from tdamp.estimators.images import n_channels, of_columns
from tdamp.estimators.preprocess import prepare, prepare_rows
from tdamp.federated import federated_fit

SHAPE = (6, 6, 2)
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 60)
X = RNG.normal(5, 0.3, (60, *SHAPE))
for row, label in enumerate(Y):
    X[row, :, 2 * label : 2 * label + 2] += 1
FLAT = X.reshape(60, -1)
LAYERS = (Conv(4, 3), AvgPool(2), Residual((Conv(4, 3),)), Dense(5))
FAST: dict[str, Any] = {"max_epochs": 3, "batch_size": 20, "early_stopping": False, "random_state": 0}


def classifier(**changes: Any) -> TDAMPClassifier:
    """One shape for all tests."""
    return TDAMPClassifier(**{"layers": LAYERS, **FAST, **changes})


@pytest.fixture(scope="module")
def fitted() -> TDAMPClassifier:
    """Fitted to images in their own shape."""
    return classifier().fit(X, Y)


def test_forms_of_x(fitted: TDAMPClassifier) -> None:
    """twin: images, flat rows, lists and named columns are the same data, to fit and to predict."""
    frame = pd.DataFrame(FLAT, columns=[f"p{i}" for i in range(72)])
    flat = classifier(input_shape=SHAPE).fit(frame, Y)
    probs = fitted.predict_proba(X)
    assert fitted.score(X, Y) > 0.9 and fitted.n_features_in_ == 72 and fitted.input_shape_ == SHAPE
    for predicted in (fitted.predict_proba(FLAT), fitted.predict_proba(X.tolist()), flat.predict_proba(frame)):
        np.testing.assert_array_equal(predicted, probs)
    assert list(flat.get_feature_names_out()) == list(frame) and flat.transform(frame).shape == (60, 72)
    grey = X[..., 0]
    ours, theirs = (prepare(classifier(), x, Y, None) for x in (grey, grey[..., None]))
    np.testing.assert_array_equal(ours.data.x, theirs.data.x)
    assert ours.network == theirs.network and ours.network.input_shape == (6, 6, 1)
    sequence = prepare(classifier(input_shape=(6, 12), layers=[Conv(4, 3)]), X.reshape(60, 6, 12), Y, None)
    assert sequence.network.widths == (12, 4, 3)


def test_scales_of_channels() -> None:
    """identity: each channel has mean zero and variance one over rows and places; a constant one has scale one."""
    x = np.concatenate([X * [1.0, 50.0], np.full((60, 6, 6, 1), 7.0)], 3)
    model = classifier()
    data = prepare_rows(model, x, Y, None, first=True)[1]
    images = data.x.reshape(60, 6, 6, 3).astype(np.float64)
    np.testing.assert_allclose(images.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(images.var((0, 1, 2)), [1, 1, 0], rtol=1e-5)
    assert model.x_scale_.shape == (108,) and len(np.unique(model.x_scale_)) == 3 and model.x_scale_[2] == 1
    streamed = classifier(input_shape=(6, 6, 3), max_epochs=1)
    streamed.fit(Batches([(x.reshape(60, -1)[i : i + 20], Y[i : i + 20]) for i in (0, 20, 40)]))
    np.testing.assert_allclose(streamed.x_mean_, model.x_mean_)
    np.testing.assert_allclose(streamed.x_scale_, model.x_scale_)
    dense = TDAMPClassifier((4,), input_shape=(6, 6, 3))
    prepare_rows(dense, x, Y, None, first=True)
    assert n_channels(dense) is None and len(np.unique(dense.x_scale_)) > 3  # every pixel is an input of its own


@pytest.mark.parametrize(
    ("shape", "widths"),
    [
        ((28, 28, 1), (1, 16, 32, 64, 10)),
        ((32, 32, 3), (3, 32, 64, 64, 10)),
        ((8, 8, 1), (1, 16, 32, 64, 10)),
        ((4, 9, 1), (1, 16, 64, 10)),
        ((40, 6), (6, 32, 64, 64, 10)),
    ],
)
def test_layers_by_the_shape(shape: tuple[int, ...], widths: tuple[int, ...]) -> None:
    """contract: "image" is a network of two convolutions, or of one, that fits images of every size."""
    network = tdamp.Network(layers=(*defaults.image_layers(shape), Dense(10)), input_shape=shape)
    assert network.widths == widths
    side = min(shape[:-1])
    assert defaults.image_layers(shape)[0].kernel == (5 if side >= defaults.WIDE_IMAGE else 3)  # type: ignore[union-attr]


def test_settings_of_images() -> None:
    """contract: a classification with convolutions holds the noise and is annealed; other fits are as they were."""
    settings = prepare(classifier(max_epochs=10, layers="image"), X, Y, None).settings
    assert (settings.noise_update, settings.noise_init, settings.data_weight) == ("fixed", 1.0, 15.0)
    np.testing.assert_allclose(settings.memory, np.geomspace(0.25, 10, 10))
    assert prepare(classifier(noise_update="em"), X, Y, None).settings.noise_update == "em"
    assert prepare(TDAMPClassifier((4,)), FLAT, Y, None).settings.noise_update == "em"
    assert prepare(TDAMPRegressor(layers="image"), X, Y, None).settings.noise_update == "em"
    held = prepare(classifier(early_stopping="auto"), X, Y, None)
    assert held.fraction == 0.1 and not held.others


REFUSED: list[tuple[dict[str, Any], Any, str]] = [
    ({}, FLAT, "needs the shape of the images, and X has flat rows: give input_shape"),
    ({}, X[..., None], "X has 5 axes"),
    ({"input_shape": (6, 6, 3)}, X, r"X has the shape \(60, 6, 6, 2\): expected rows of the shape"),
    ({"input_shape": (6, 6, 3)}, FLAT, "has 108 numbers, but X has 72 columns"),
    ({"input_shape": (6, -6)}, X, "input_shape=.* expected"),
    ({"input_shape": 6}, X, "input_shape=6: expected"),
    ({"hidden_layer_sizes": (8,)}, X, "leave out hidden_layer_sizes"),
    ({"layers": "cnn"}, X, "layers='cnn': expected"),
    ({"layers": ["conv", 3]}, X, "layers has 3"),
    ({"layers": (Conv(2, 9, padding="valid"),)}, X, "does not fit"),
    ({"groups": [[0, 1]]}, X, "groups are of single inputs"),
    ({"prior": "burst"}, X, "channels have not"),
]


@pytest.mark.parametrize(("changes", "x", "message"), REFUSED)
def test_refused(changes: dict[str, Any], x: Any, message: str) -> None:
    """contract: what does not fit together is refused with what to do, and leaves nothing behind."""
    model = classifier(**changes)
    with pytest.raises(ValueError, match=message):
        model.fit(x, Y)
    assert not hasattr(model, "input_shape_")


def test_refused_afterwards(fitted: TDAMPClassifier) -> None:
    """contract: samples and exports of convolutions, and images of another shape, are refused with a sentence."""
    with pytest.raises(ValueError, match="a sample is a network of dense layers"):
        fitted.sample_posterior()
    with pytest.raises(ValueError, match="only dense layers have an export yet"):
        fitted.to_plain()
    with pytest.raises(ValueError, match=r"expected rows of the shape \(6, 6, 2\), or flat rows of 72"):
        fitted.predict(X[:, :5])


def test_saved(fitted: TDAMPClassifier, tmp_path: Path) -> None:
    """contract: folders, pickles and copies have the layers and predict the same; the report and its card are made."""
    fitted.save(tmp_path / "model")
    for again in (tdamp.load(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
        assert again.layers == LAYERS and again.input_shape_ == SHAPE and again.n_features_in_ == 72
        assert again.network_ == fitted.network_
        np.testing.assert_array_equal(again.feature_active_prob_, fitted.feature_active_prob_)
    assert clone(fitted).get_params() == fitted.get_params()
    again.report(tmp_path / "report.html", X, Y)
    page = (tmp_path / "report.html").read_text()
    assert "channel 0" in page and f"{fitted.network_.n_params:,}" in page and "data:image/png" in page


def test_attributes(fitted: TDAMPClassifier) -> None:
    """contract: inputs are channels; every column has what its channel has, or after filters all have the same."""
    prob = fitted.active_prob_[0]
    assert [len(each) for each in fitted.active_prob_] == [2, 4, 4, 5]
    np.testing.assert_array_equal(fitted.feature_active_prob_.reshape(SHAPE), np.broadcast_to(prob, SHAPE))
    assert fitted.get_support().shape == (72,) and fitted.n_groups_ == (15, 15)
    edges = FixedFilter(np.ones((3, 3, 2, 4)))
    network = tdamp.Network(layers=(edges, Conv(2), Dense(3)), input_shape=SHAPE)
    np.testing.assert_array_equal(of_columns(network, np.array([0.1, 0.9, 0.2, 0.3])), np.full(72, 0.9))


def test_going_on(fitted: TDAMPClassifier) -> None:
    """contract: partial_fit and warm_start go on from the fit, with images or flat rows; other layers are refused."""
    model = pickle.loads(pickle.dumps(fitted)).partial_fit(FLAT, Y)
    model.set_params(warm_start=True).fit(X, Y)
    assert model.n_iter_ == 7 and model.score(X, Y) > 0.9
    with pytest.raises(ValueError, match="begin anew"):
        model.set_params(layers="image").fit(X, Y)
    assert classifier(input_dropout=0.1).fit(X, Y).score(X, Y) > 0.9


def test_pruned(tmp_path: Path) -> None:
    """contract: `keep` counts channels and units exactly; what is left is saved, compacted and reported."""
    model = classifier(keep=0.6, max_epochs=4).fit(X, Y)
    assert model.n_units_ == 9 and model.n_groups_ == (9, 15)
    assert sum(int((prob > 0).sum()) for prob in model.active_prob_) == 9
    probs = model.compact().predict_proba(X)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(tdamp.load(tmp_path / "model").predict_proba(X), probs)
    model.report(tmp_path / "report.html", X, Y)
    budget = classifier(max_params=300, max_epochs=4).fit(X, Y)
    assert budget.fitted_.network.n_params <= 300 < budget.network_.n_params
    frame = sparsity_path(classifier(max_epochs=4), X, Y, keeps=(0.6,)).frame
    assert list(frame["units"]) == [9]


def test_regression_of_sequences() -> None:
    """contract: a regression reads sequences, and predicts as wide as ever."""
    sequences, y = X.reshape(60, 12, 6), X.mean((1, 2, 3))
    model = TDAMPRegressor(layers=(Conv(4, 3), Dense(4)), input_shape=(12, 6), **FAST).fit(sequences, y)
    mean, std = model.predict(sequences, return_std=True)
    assert mean.shape == (60,) and (std > 0).all()


def test_federation() -> None:
    """contract: clients train a convolutional network with the scales of all; what cannot be removed is refused."""
    clients = [(X[:30], Y[:30]), (X[30:], Y[30:])]
    model = classifier(layers=(Conv(4, 3, stride=2), Dense(5)), early_stopping="auto")
    for rule in ("wga", "waa"):
        result = federated_fit(model, clients, rounds=2, local_epochs=2, aggregation=rule).estimator
        assert result.score(X, Y) > 0.9
    np.testing.assert_allclose(np.unique(result.x_mean_), np.sort(X.mean((0, 1, 2))))
    with pytest.raises(ValueError, match="a federation removes neither"):
        federated_fit(clone(model).set_params(keep=0.5), clients, rounds=2)
