"""preset="paper" and prediction="mean" of the estimators, through saving, exports and the command line."""

from __future__ import annotations

import json
import math
import runpy
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1

import tdamp
from helpers.command_examples import call, csv, houses
from tdamp import Network, Settings, TDAMPClassifier, TDAMPRegressor, class_probs, fit, load, mean_network, save
from tdamp.estimators.parameters import settings_of
from tdamp.estimators.preprocess import prepare_rows
from tdamp.export import to_numpy, to_onnx, to_torch
from tdamp.numerics.beliefs import Moments

X, Y = make_friedman1(90, noise=0.5, random_state=0)
FLOWERS, KINDS = load_iris(return_X_y=True)
SHORT: dict[str, Any] = {"max_epochs": 4, "batch_size": 16, "random_state": 0}
EXPLICIT = {
    "prior": "gaussian", "pruning": "exact", "pasp": "anchored", "noise_every": "minibatch", "noise_rate": 0.1,
    "trust": 3.0, "centre_rate": 0.1, "sweeps": 2, "prediction": "posterior", "active_threshold": 0.7,
    "init_active_prob": 0.3,
}  # fmt: skip


@pytest.fixture(scope="module")
def regressor() -> TDAMPRegressor:
    """As printed, with units to remove."""
    with pytest.warns(tdamp.TrainingWarning, match="more units remain"):
        return TDAMPRegressor((12, 6), preset="paper", keep=0.5, **SHORT).fit(X, Y)


@pytest.fixture(scope="module")
def classifier() -> TDAMPClassifier:
    """As printed, with all units."""
    return TDAMPClassifier((8,), preset="paper", **SHORT).fit(FLOWERS, KINDS)


def mean_outputs(model: Any, rows: np.ndarray) -> np.ndarray:
    """Outputs of the posterior-mean network for rows in the user's units, in the engine's."""
    fitted = model.fitted_
    scaled = ((rows - model.x_mean_) / model.x_scale_)[:, fitted.inputs].astype(np.float32)
    return np.asarray(mean_network(fitted.network, fitted.state.layers, scaled), np.float64)


def test_the_preset_is_the_engine_s() -> None:
    """twin: the estimator with preset="paper" trains what `fit` does with `Settings.paper`, to the bit."""
    with pytest.warns(tdamp.TrainingWarning, match="more units remain"):
        model = TDAMPRegressor((12, 6), preset="paper", keep=0.5, standardize=False, **SHORT).fit(X, Y)
    network, data = prepare_rows(model, X, Y, None, first=False)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    theirs = fit(network, data.x, data.y, Settings.paper(keep=0.5, max_epochs=4, batch_size=16), seed=seed)
    ours = model.fitted_
    assert [record["active_units"] for record in ours.history] == [record["active_units"] for record in theirs.history]
    jax.tree.map(np.testing.assert_array_equal, ours.state, theirs.state)
    assert ours.prediction == theirs.prediction == "mean"
    assert ours.calibration is None and "held_out" not in model.history_ and len(model.history_) == 4


def test_an_explicit_parameter_wins() -> None:
    """contract: each of them over the preset, whose others stay; and "auto" without a preset is as it always was."""
    network = Network((10, 12, 6, 1))
    base, _ = settings_of(TDAMPRegressor((12, 6), preset="paper"), network, 90)
    for name, value in EXPLICIT.items():
        result, held = settings_of(TDAMPRegressor((12, 6), preset="paper", **{name: value}), network, 90)
        differ = {key for key in vars(base) if getattr(base, key) != getattr(result, key)}
        assert differ == {name} and getattr(result, name) == value and not held
    assert settings_of(TDAMPRegressor(preset="paper", early_stopping=True), network, 90)[1]
    plain = settings_of(TDAMPRegressor((12, 6)), network, 90)
    spelt = {"prior": "gaussian", "pruning": "exact", "pasp": "anchored", "prediction": "posterior", "sweeps": 1}
    assert plain == settings_of(TDAMPRegressor((12, 6), **spelt), network, 90) and plain[1]


def test_clone_and_parameters(regressor: TDAMPRegressor) -> None:
    """contract: scikit-learn's: parameters stay as they were given, fitted or not."""
    asked = {"preset": "paper", "trust": None, "centre_rate": 0.0, "active_threshold": 0.95}
    again = clone(TDAMPRegressor(**asked))
    assert {name: again.get_params()[name] for name in asked} == asked
    assert regressor.get_params()["prior"] == regressor.get_params()["trust"] == "auto"
    assert again.set_params(preset=None).preset is None


def test_a_regression_by_its_mean(regressor: TDAMPRegressor) -> None:
    """identity: the posterior-mean network's outputs in y's units, and the learned noise as the only variance."""
    mean, std = regressor.predict(X, return_std=True)
    np.testing.assert_allclose(
        mean, mean_outputs(regressor, X)[:, 0] * regressor.y_scale_ + regressor.y_mean_, rtol=1e-5
    )
    np.testing.assert_allclose(std**2, np.full(len(X), regressor.noise_var_[0]), rtol=1e-6)
    result = regressor.predict_distribution(X)
    assert not result.epistemic_std.any() and np.isinf(result.dof).all()


def test_classes_by_their_mean(classifier: TDAMPClassifier) -> None:
    """identity: probabilities of the posterior-mean network's scores, which have no variance but the noise."""
    z = mean_outputs(classifier, FLOWERS)
    exact = class_probs(Moments(z, np.zeros_like(z)), np.float64(classifier.noise_var_))
    np.testing.assert_allclose(classifier.predict_proba(FLOWERS), exact, atol=1e-5)
    np.testing.assert_array_equal(classifier.predict(FLOWERS), z.argmax(1))
    actual = classifier.predict_distribution(FLOWERS)
    np.testing.assert_allclose(actual.mean, z, rtol=1e-4, atol=1e-5)
    assert not actual.epistemic_std.any()


def test_by_the_mean_without_the_preset() -> None:
    """contract: rows held out still tell how wide to predict, and there is nothing epistemic to be stretched."""
    model = TDAMPRegressor((8,), prediction="mean", max_epochs=6, random_state=0).fit(X, Y)
    actual = model.predict_distribution(X)
    assert not actual.epistemic_std.any() and np.isfinite(actual.std).all() and np.isfinite(actual.dof).all()
    exact = mean_outputs(model, X)[:, 0] * model.y_scale_ + model.y_mean_
    np.testing.assert_allclose(actual.mean, exact, rtol=1e-5)
    assert np.isfinite(model.log_score(X, Y))


@pytest.mark.parametrize("name", ["regressor", "classifier"])
def test_saved_and_exported(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """twin: a loaded model, the NumPy file, the ONNX graph and the PyTorch network say what the estimator says."""
    model = request.getfixturevalue(name)
    regression = name == "regressor"
    rows = X if regression else FLOWERS
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.settings_ == model.settings_ and again.fitted_.prediction == "mean"
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    plain = model.to_plain()
    to_numpy(plain, tmp_path / "n.py")
    result = runpy.run_path(str(tmp_path / "n.py"))["predict_distribution"](rows)
    wanted = model.predict(rows, return_std=True) if regression else model.predict_proba(rows)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
    ort = pytest.importorskip("onnxruntime")
    to_onnx(plain, tmp_path / "o.onnx")
    outputs = ort.InferenceSession(str(tmp_path / "o.onnx")).run(None, {"x": rows.astype(np.float32)})
    if regression:
        np.testing.assert_allclose(outputs[0][:, 0], wanted[0], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(np.sqrt(outputs[1][:, 0]), wanted[1], rtol=1e-4)
    else:
        np.testing.assert_allclose(outputs[0], wanted, atol=1e-4)
    torch = pytest.importorskip("torch")
    point = to_torch(plain)(torch.tensor(rows, dtype=torch.float32)).detach().numpy()
    np.testing.assert_allclose(
        point[:, 0] if regression else point.argmax(1), model.predict(rows), rtol=1e-4, atol=1e-4
    )


def test_a_folder_from_before(classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """contract: one that knows neither the preset nor the prediction loads, and predicts by its posterior."""
    model = TDAMPClassifier((8,), **SHORT).fit(FLOWERS, KINDS)
    save(model, tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    config = json.loads(path.read_text())
    del config["config_sha256"], config["settings"]["prediction"]
    new = {"preset", "prediction", "trust", "noise_every", "noise_rate", "centre_rate"}
    new |= {"active_threshold", "init_active_prob"}
    config["params"] = {k: v for k, v in config["params"].items() if k not in new} | {"prior": "gaussian"}
    path.write_text(json.dumps(config))
    again = load(tmp_path / "m")
    assert again.preset is None and again.fitted_.prediction == "posterior" and again.settings_ == model.settings_
    np.testing.assert_array_equal(again.predict_proba(FLOWERS), model.predict_proba(FLOWERS))


def test_streaming_goes_on_in_question() -> None:
    """contract: units that the preset put in question are not put in question anew when more rows come."""
    model = TDAMPClassifier((8,), preset="paper", **SHORT).fit(FLOWERS, KINDS)
    warm_up = model.settings_.warm_up
    for _ in range(warm_up - 3):
        before = [np.asarray(layer.offset) for layer in model.fitted_.state.layers]
        model.partial_fit(FLOWERS[:30], KINDS[:30])
        for old, layer in zip(before, model.fitted_.state.layers, strict=True):
            np.testing.assert_array_equal(old, layer.offset)
    assert len(model.history_) > warm_up and model.fitted_.prediction == "mean"


def test_the_command_line(tmp_path: Path) -> None:
    """twin: `tdamp fit` with the options is the estimator with the parameters."""
    data = csv(tmp_path, "houses.csv", houses(120))
    options = ["--trust", "none", "--noise-every", "minibatch", "--centre-rate", "0.1", "--noise-rate", "0.3"]
    options += ["--active-threshold", "0.8", "--init-active-prob", "0.6", "--prediction", "posterior"]
    fit_houses = ["fit", data, "--target", "price", "--hidden", "8", "--epochs", "2", "--preset", "paper"]
    ran = call(*fit_houses, *options, "--out", tmp_path / "m")
    assert ran.code == 0, ran.err
    made = load(tmp_path / "m").settings_
    assert made.trust == math.inf and made.noise_every == "minibatch" and made.centre_rate == 0.1
    assert made.noise_rate == 0.3
    assert (made.active_threshold, made.init_active_prob, made.prediction) == (0.8, 0.6, "posterior")
    assert (made.prior, made.pasp, made.pruning, made.sweeps) == ("group", "paper", "paper", 1)
    ran = call(*fit_houses, "--out", tmp_path / "n")
    assert ran.code == 0 and load(tmp_path / "n").settings_.prediction == "mean"
    for option, value, word in (
        ("--trust", "0", "none for no limit"),
        ("--centre-rate", "1", "below 1"),
        ("--active-threshold", "2", "at most 1"),
        ("--preset", "mine", "paper"),
    ):
        ran = call(*fit_houses, option, value, "--out", tmp_path / "x")
        assert ran.code == 2 and word in ran.err
