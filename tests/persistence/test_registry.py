"""Classes of estimators that can be saved."""

from __future__ import annotations

import ast
from pathlib import Path

import tdamp
from tdamp import persistence
from tdamp.estimators import ESTIMATORS
from tdamp.persistence.registry import FORMS


def test_every_estimator_is_registered() -> None:
    """identity: the public estimators, each under the name of its class and for its own task."""
    assert {name: form.kind for name, form in FORMS.items()} == ESTIMATORS
    assert set(ESTIMATORS.values()) == {tdamp.TDAMPRegressor, tdamp.TDAMPClassifier}
    assert {name: form.task for name, form in FORMS.items()} == {
        "TDAMPRegressor": "regression",
        "TDAMPClassifier": "classification",
    }


def test_persistence_does_not_know_the_estimators() -> None:
    """identity: no module of the folder imports them, at any depth of its code."""
    for path in Path(persistence.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert "estimators" not in (node.module or ""), path.name
