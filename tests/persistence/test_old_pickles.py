"""Pickles of version 0.1, and modules under the names that they had.

covers: _moved
"""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import tdamp
from tdamp import _moved

FIXTURES = Path(__file__).parents[1] / "fixtures" / "version_0_1"
EXPECTED = np.load(FIXTURES / "expected.npz")


@pytest.mark.parametrize("name", ["regressor", "varying", "classifier"])
def test_a_pickle_of_version_0_1_predicts_as_it_did(name: str) -> None:
    """golden(written by version 0.1): means and standard deviations, or class probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model = pickle.loads((FIXTURES / f"{name}.pickle").read_bytes())
    expected = EXPECTED[name]
    if name == "classifier":
        actual = model.predict_proba(load_iris().data[::20])
    else:
        actual = np.stack(model.predict(load_diabetes().data[:8], return_std=True))
    np.testing.assert_allclose(actual, expected, rtol=1e-5)
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is type(model)


@pytest.mark.parametrize("name", ["regressor", "varying", "classifier"])
def test_an_old_pickle_goes_on_learning(name: str) -> None:
    """contract: partial_fit of what was unpickled gives finite predictions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model = pickle.loads((FIXTURES / f"{name}.pickle").read_bytes())
    X, y = load_iris(return_X_y=True) if name == "classifier" else load_diabetes(return_X_y=True)
    model.partial_fit(X[:40:2], y[:40:2])
    assert np.isfinite(model.predict_proba(X[:5]) if name == "classifier" else model.predict(X[:5])).all()


def test_a_pickled_encoder_of_version_0_1_encodes_as_it_did() -> None:
    """golden(written by version 0.1): numbers with gaps, dates and categories become the same matrix."""
    with pytest.warns(DeprecationWarning, match=r"tdamp\.tables\.columns"):
        encoder = unpickled_anew("encoder", "tables.encode", "tables.filling")
    np.testing.assert_array_equal(encoder.transform(pd.read_csv(FIXTURES / "encoder.csv")), EXPECTED["encoder"])


def test_a_pickled_prediction_of_version_0_1_has_its_moments() -> None:
    """golden(written by version 0.1): variances come back as a Distribution's."""
    with pytest.warns(DeprecationWarning, match=r"tdamp\.predict\.Predictive"):
        predictive = unpickled_anew("predictive", "predict")
    assert isinstance(predictive, tdamp.Distribution)
    moments = predictive.mean, predictive.epistemic_var, predictive.aleatoric_var
    np.testing.assert_allclose(np.stack(moments), EXPECTED["predictive"], rtol=1e-6)


def unpickled_anew(name: str, *old: str) -> Any:
    """What a pickle holds, with modules under old names imported as if for the first time."""
    for module in old:
        sys.modules.pop(f"tdamp.{module}", None)
    return pickle.loads((FIXTURES / f"{name}.pickle").read_bytes())


def old_modules() -> list[str]:
    """Modules of version 0.1, without those that went to the distribution tdamp-bench."""
    return [line.removeprefix("tdamp.") for line in (FIXTURES / "modules.txt").read_text().split() if "." in line]


def test_every_module_of_version_0_1_imports() -> None:
    """contract: with a warning and as the module of its new name, if it has one; a moved package shares its parts."""
    assert set(_moved.MOVED) | set(_moved.KEPT) <= set(old_modules())
    for old in old_modules():
        if "federated" in old:
            pytest.importorskip("flwr")
        new = _moved.MOVED.get(old) or _moved.KEPT.get(old, old)
        if old != new:
            sys.modules.pop(f"tdamp.{old}", None)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            module = importlib.import_module(f"tdamp.{old}")
        deprecations = [str(each.message) for each in seen if f"tdamp.{old} is tdamp.{new} now" in str(each.message)]
        assert len(deprecations) == (old in _moved.MOVED), old
        assert module is importlib.import_module(f"tdamp.{new}") and module.__spec__.name == f"tdamp.{new}"


@pytest.mark.parametrize("name", ["private", "secure_flower", "flower.tables"])
def test_documented_names_stay(name: str) -> None:
    """contract: no deprecation, under the name or below it."""
    pytest.importorskip("flwr")
    sys.modules.pop(f"tdamp.federated.{name}", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        importlib.import_module(f"tdamp.federated.{name}")


def test_names_that_moved_out_of_their_module() -> None:
    """contract: each warns and is the thing itself; others are no attributes."""
    for old, names in _moved.MOVED_NAMES.items():
        module = importlib.import_module(f"tdamp.{old}")
        for name, home in names.items():
            with pytest.warns(DeprecationWarning, match=f"tdamp.{old}.{name} is"):
                assert getattr(module, name) is getattr(importlib.import_module(f"tdamp.{home}"), name)
    with pytest.raises(AttributeError, match="no attribute 'beside'"):
        importlib.import_module("tdamp.numerics").beside  # noqa: B018


def test_new_names_do_not_warn() -> None:
    """contract: what is public is imported without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        for name in tdamp.__all__:
            getattr(tdamp, name)
