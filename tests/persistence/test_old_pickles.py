"""Pickles of version 0.1, and modules under the names that they had."""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import tdamp
from tdamp import _moved

FIXTURES = Path(__file__).parents[1] / "fixtures" / "version_0_1"


@pytest.mark.parametrize("name", ["regressor", "varying", "classifier"])
def test_a_pickle_of_version_0_1_predicts_as_it_did(name: str) -> None:
    """golden(written by version 0.1): means and standard deviations, or class probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model = pickle.loads((FIXTURES / f"{name}.pickle").read_bytes())
    expected = np.load(FIXTURES / "expected.npz")[name]
    if name == "classifier":
        found = model.predict_proba(load_iris().data[::20])
    else:
        found = np.stack(model.predict(load_diabetes().data[:8], return_std=True))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
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


def test_old_names_are_the_new_modules() -> None:
    """contract: every old name imports, warns, and gives the module of its new name."""
    assert set(_moved.MOVED.values()) and "network" in _moved.MOVED
    for old, new in _moved.MOVED.items():
        if "flower" in new or "federated" in new:
            pytest.importorskip("flwr")
        sys.modules.pop(f"tdamp.{old}", None)
        with pytest.warns(DeprecationWarning, match=r"is tdamp\."):
            module = importlib.import_module(f"tdamp.{old}")
        assert module is importlib.import_module(f"tdamp.{new}") and module.__spec__.name == f"tdamp.{new}"


def test_new_names_do_not_warn() -> None:
    """contract: what is public is imported without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        for name in tdamp.__all__:
            getattr(tdamp, name)
