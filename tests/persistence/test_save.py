"""Saved estimators come back whole, and a folder that is not a model says so.

covers: estimators.registration, persistence.arrays, persistence.model_card
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tdamp
from tdamp import ModelFileError, TDAMPClassifier, TDAMPRegressor
from tdamp.persistence import folder
from tdamp.persistence.save import load_with_extra

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 5)), columns=["a", "b", "ü", "d", "e"])


@pytest.fixture(scope="module")
def regressor() -> TDAMPRegressor:
    """Two outputs, pruned, with groups."""
    Y = np.stack([X["a"] - X["b"], 100 * X["ü"]], 1) + 0.1 * RNG.normal(size=(120, 2))
    model = TDAMPRegressor((8,), keep=9, groups=[["d", "e"]], max_epochs=12, random_state=0)
    return model.fit(X, Y)


@pytest.fixture(scope="module")
def classifier() -> TDAMPClassifier:
    """Three classes with text labels."""
    y = np.array(["low", "middle", "high"])[np.digitize(X["a"], [-0.5, 0.5])]
    return TDAMPClassifier((8,), max_epochs=6, random_state=0).fit(X, y)


def same(ours: Any, theirs: Any) -> None:
    """Everything a user can ask of the two is equal."""
    assert type(ours) is type(theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for a, b in zip(ours.predict_distribution(X), theirs.predict_distribution(X), strict=True):
        np.testing.assert_array_equal(a, b)
    pd.testing.assert_frame_equal(*(model.history_.drop(columns="seconds") for model in (ours, theirs)))
    for a, b in zip(ours.active_prob_, theirs.active_prob_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(ours.noise_var_, theirs.noise_var_)
    assert ours.get_params() == theirs.get_params() or ours.groups is not None
    assert list(ours.feature_names_in_) == list(theirs.feature_names_in_)
    assert ours.settings_ == theirs.settings_


@pytest.mark.parametrize("name", ["regressor", "classifier"])
def test_round_trip(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """identity: predictions, history, probabilities, names and parameters are the same bits after loading."""
    model = request.getfixturevalue(name)
    model.save(tmp_path / "m")
    same(tdamp.load(tmp_path / "m"), model)
    assert type(model).load(tmp_path / "m").n_units_ == model.n_units_
    assert "Inputs read: a" in (tmp_path / "m" / "README.md").read_text()


def test_what_pruning_cost_comes_back(regressor: TDAMPRegressor, classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """identity: the loss, to the last bit, or none; the report of the loaded model says it."""
    pytest.importorskip("matplotlib")
    for model in (regressor, classifier):
        model.save(tmp_path / "m")
        loaded = tdamp.load(tmp_path / "m")
        assert loaded.pruning_loss_ == model.pruning_loss_
        loaded.report(tmp_path / "report.html")
        shown = "Lost by pruning" in (tmp_path / "report.html").read_text()
        assert shown is (model.pruning_loss_ is not None) is (model is regressor)


def test_models_without_the_loss_load(regressor: TDAMPRegressor, tmp_path: Path) -> None:
    """contract: a folder of a version that did not store it has none; what is no loss is refused."""
    regressor.save(tmp_path / "m")
    arrays, config = folder.load(tmp_path / "m")
    folder.save(tmp_path / "n", arrays, {name: it for name, it in config.items() if name != "pruning"}, "")
    assert tdamp.load(tmp_path / "n").pruning_loss_ is None
    for stored in ({"log_score_before": 0.0}, "much", dict.fromkeys(config["pruning"], "1")):
        folder.save(tmp_path / "n", arrays, config | {"pruning": stored}, "")
        with pytest.raises(ModelFileError):
            tdamp.load(tmp_path / "n")


def test_learning_goes_on_after_loading(regressor: TDAMPRegressor, tmp_path: Path) -> None:
    """twin: more rows change the loaded model as they change the one that was never saved."""
    regressor.save(tmp_path / "m")
    loaded, kept = tdamp.load(tmp_path / "m"), copy.deepcopy(regressor)
    Y = RNG.normal(size=(20, 2))
    for model in (loaded, kept):
        model.partial_fit(X[:20], Y)
    same(loaded, kept)


@pytest.mark.parametrize("labels", [[0, 1], [True, False], [1.0, 2.0], ["é", "日本"]])
def test_labels_keep_their_type(labels: list, classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """identity: classes come back equal and of the same kind."""
    y = np.array(labels)[(X["a"] > 0).astype(int)]
    model = clone(classifier).set_params(max_epochs=1).fit(X, y)
    model.save(tmp_path / "m")
    loaded = tdamp.load(tmp_path / "m")
    assert loaded.classes_.dtype.kind == model.classes_.dtype.kind
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_extra_is_kept(classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """identity: what is saved beside the estimator comes back."""
    tdamp.save(classifier, tmp_path / "m", encoder={"columns": ["a"]})
    assert load_with_extra(tmp_path / "m")[1] == {"encoder": {"columns": ["a"]}}


def test_the_wrong_class_is_refused(classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """contract: a regressor is not loaded from a classifier's folder; an unfitted estimator is not saved."""
    classifier.save(tmp_path / "m")
    with pytest.raises(TypeError, match="holds a TDAMPClassifier"):
        TDAMPRegressor.load(tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        TDAMPRegressor().save(tmp_path / "n")


CHANGES: dict[str, Any] = {
    "estimator": ["os.system", 3, None],
    "params": [[], {"verbose": 1, "unknown": 2}, None],
    "network": [
        {},
        {"widths": [5, 8, 4], "task": "classification", "activation": "relu"},
        None,
        7,
        *(
            {"widths": [5, 8, 3], "task": "classification", "layers": layers}
            for layers in (["dense"], ["x", "dense"], 7)
        ),
    ],
    "asked": [{"widths": [2, 2, 3], "task": "classification", "activation": "relu"}, []],
    "outcome": ["FINE", None],
    "epoch": [-1, 99, "1", None],
    "n_rows": ["many", None],
    "settings": [None, {"sweeps": 0}, {"unknown": 1}],
    "history": [None, [3], "x"],
    "feature_names": [["a"], [1, 2, 3, 4, 5], None],
    "classes": [["low"], None, ["low", "low", "high"], [["low"], ["a"], ["b"]]],
    "extra": [None, 3],
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_config_that_makes_no_sense(key: str, classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """contract: each field changed or gone is a ModelFileError that names the folder, never another error."""
    classifier.save(tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    config = json.loads(path.read_text())
    for value in [*CHANGES[key], "gone"]:
        changed = {k: v for k, v in config.items() if k != key} | ({key: value} if value != "gone" else {})
        del changed["config_sha256"]  # as someone does who means the change
        path.write_text(json.dumps(changed))
        with pytest.raises(ModelFileError, match="m"):
            tdamp.load(tmp_path / "m")


def test_arrays_that_make_no_sense(classifier: TDAMPClassifier, tmp_path: Path) -> None:
    """contract: negative variances, NaN, other shapes, missing arrays and foreign units are refused."""
    classifier.save(tmp_path / "m")
    arrays, config = folder.load(tmp_path / "m")
    config = {k: v for k, v in config.items() if k not in folder.HEADER}
    bad = {
        "layers.0.weight.var": -arrays["layers.0.weight.var"],
        "layers.1.weight.mean": np.full_like(arrays["layers.1.weight.mean"], np.nan),
        "layers.0.bias.mean": arrays["layers.0.bias.mean"][:-1],
        "noise_var": np.asarray([1.0, 2.0], np.float32),
        "kept.0": arrays["kept.0"] + 3,
        "kept.1": arrays["kept.1"][::-1].copy(),
        "x_scale_": 0 * arrays["x_scale_"],
        "x_mean_": arrays["x_mean_"] + np.inf,
        "layers.0.offset": np.full_like(arrays["layers.0.offset"], -np.inf),
    }
    for name, value in [*bad.items(), ("layers.1.centre", None)]:
        changed = {k: v for k, v in arrays.items() if k != name} | ({name: value} if value is not None else {})
        folder.save(tmp_path / "bad", changed, config, "")
        with pytest.raises(ModelFileError):
            tdamp.load(tmp_path / "bad")
