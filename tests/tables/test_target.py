"""Targets: the task that is chosen, the labels that come back, the errors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tdamp.tables import Encoder, TableError


def fit(y: Any, task: str = "auto") -> Encoder:
    """An encoder for this target, stored and loaded."""
    frame = pd.DataFrame({"a": np.sqrt(np.arange(len(y))), "y": y})
    return Encoder.from_json(json.loads(json.dumps(Encoder.fit(frame, "y", task).to_json())))


@pytest.mark.parametrize(
    ("y", "task", "classes"),
    [
        (["no", "yes", "no"], "classification", ("no", "yes")),
        ([True, False, True], "classification", ("False", "True")),
        (["TRUE", "FALSE"], "classification", ("FALSE", "TRUE")),
        (pd.Categorical([3, 1, 3]), "classification", (1, 3)),
        ([0, 1] * 3, "classification", (0, 1)),
        (["10", "9"], "classification", (9, 10)),
        ([1.0, 2.0, None, 2.0], "classification", (1, 2)),
        (list(range(10)) * 21, "classification", tuple(range(10))),  # 10 of 210 rows: under 5 %
        (list(range(10)) * 20, "regression", ()),  # 10 of 200 rows: 5 %
        (list(range(11)) * 30, "regression", ()),  # more than 10 values
        ([0, 1, 2], "regression", ()),
        ([0.5, 1.5], "regression", ()),
        (["0.5", "1"], "regression", ()),
        ([2**62, 2**62 + 1], "regression", ()),  # one value in float64, as the error below says
    ],
)
def test_the_task_is_chosen(y: Any, task: str, classes: tuple) -> None:
    """contract: the rule on both sides of its edges, and the reason among the notes."""
    if list(y)[:1] == [2**62]:
        with pytest.raises(TableError, match="nothing to learn"):
            fit(y)
        assert fit(y, "classification").classes == tuple(y)  # labels stay exact
        return
    encoder = fit(y)
    assert (encoder.task, encoder.classes) == (task, classes)
    assert sum(task in note and note.startswith("Target y:") for note in encoder.notes) == 1


@pytest.mark.parametrize(
    ("trained", "later", "labels"),
    [
        ([0, 1, 1], ["1", "0.0", "1"], [1, 0, 1]),
        (["TRUE", "FALSE"], [False, True], ["FALSE", "TRUE"]),
        ([True, False], ["true", "false"], ["True", "False"]),
        (["b ", "a"], ["a", " b"], ["a", "b"]),
        (pd.Categorical(["x", "y"]), pd.Series(["y", "x"], dtype=object), ["y", "x"]),
        ([-5, 7], pd.array([7, -5], "Int64"), [7, -5]),
    ],
)
def test_labels_come_back(trained: Any, later: Any, labels: list) -> None:
    """contract: labels as trained on, whatever type the later table has; sorted as NumPy sorts them."""
    encoder = fit(trained, "classification")
    result = encoder.target({"y": later})
    assert result.tolist() == labels and result.dtype.kind in "iU"
    assert np.unique(result).tolist() == list(encoder.classes)


def test_several_targets() -> None:
    """identity: two columns side by side, rows where both are there."""
    frame = pd.DataFrame({"a": [1.0, 2, 4], "u": [0.5, None, 2.5], "v": [3, 4, 5]})
    encoder = Encoder.fit(frame, ["u", "v"])
    x, y = encoder.pairs(frame)
    assert y.tolist() == [[0.5, 3], [2.5, 5]] and x.tolist() == [[1], [4]] and encoder.task == "regression"
    with pytest.raises(TableError, match="one target column, not 2"):
        Encoder.fit(frame, ["u", "v"], "classification")
    with pytest.raises(TableError, match=r"row 1: the target is missing in 1 rows: .*usable_rows"):
        encoder.target(frame)


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        ([3, 3, 3], "auto", "every row has the value 3"),
        ([0.5, 0.5], "regression", "every row has the value 0.5"),
        (["a", "a"], "auto", "every row has the class 'a'"),
        ([True, True], "auto", "every row has the class 'True'"),
        ([1, 1], "classification", "every row has the class '1'"),
        ([None, None], "auto", "missing in every row"),
        (["a", "b", "a"], "regression", "column y, row 0: 'a' is not a number"),
        ([1.0, np.inf, 2.0], "auto", "column y, row 1: the number is infinite"),
        (pd.date_range("2020", periods=3), "auto", "dates cannot be predicted"),
        (pd.date_range("2020", periods=3), "regression", "dates cannot be predicted"),
        ([f"text {i}" for i in range(20)], "auto", "20 different texts in 20 rows are too many"),
    ],
)
def test_targets_that_cannot_be_learned(y: Any, task: str, message: str) -> None:
    """contract: each error says why."""
    with pytest.raises(TableError, match=message):
        fit(y, task)


def test_an_unknown_class_is_named() -> None:
    """contract: the class, its place, and those that are known."""
    encoder = fit(["cat", "dog", "cat"])
    with pytest.raises(TableError, match="row 1: the class 'cow' was not among those of training, 'cat', 'dog'"):
        encoder.target({"y": ["cat", "cow"]})


GOOD = fit(["cat", "dog", "cat"]).to_json()
NUMBER, TARGET = GOOD["columns"][0], GOOD["target"]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        GOOD | {"format": "pickle"},
        GOOD | {"version": 2},
        GOOD | {"version": True},
        GOOD | {"more": 1},
        GOOD | {"notes": [1]},
        GOOD | {"columns": []},
        GOOD | {"columns": [None]},
        GOOD | {"columns": [NUMBER, NUMBER]},
        GOOD | {"columns": [NUMBER | {"kind": "text"}]},
        GOOD | {"columns": [NUMBER | {"kind": []}]},
        GOOD | {"columns": [NUMBER | {"median": float("nan")}]},
        GOOD | {"columns": [NUMBER | {"median": "3"}]},
        GOOD | {"columns": [NUMBER | {"median": 10**400}]},
        GOOD | {"columns": [NUMBER | {"decimal": ";"}]},
        GOOD | {"columns": [NUMBER | {"values": False}]},
        GOOD | {"columns": [NUMBER | {"values": 1}]},
        GOOD | {"columns": [{"kind": "category", "name": "c", "levels": ["a", "a"], "other": True, "marks": True}]},
        GOOD | {"columns": [{"kind": "category", "name": "c", "levels": [[]], "other": True, "marks": True}]},
        GOOD | {"columns": [{"kind": "category", "name": "c", "levels": [], "other": False, "marks": False}]},
        GOOD | {"columns": [{"kind": "category", "name": "c", "levels": ["other"], "other": True, "marks": False}]},
        GOOD | {"target": TARGET | {"names": ["a"]}},  # also a feature
        GOOD | {"target": TARGET | {"names": ["y", "z"]}},
        GOOD | {"target": TARGET | {"classes": ["cat"]}},
        GOOD | {"target": TARGET | {"classes": ["cat", 1]}},
        GOOD | {"target": TARGET | {"classes": [1, 2**63]}},
        GOOD | {"target": TARGET | {"classes": [True, False]}},
        GOOD | {"target": TARGET | {"task": "regression"}},
        GOOD | {"target": TARGET | {"readers": [None]}},
        GOOD | {"ignored": ["y"]},
    ],
)
def test_stored_nonsense_is_refused(data: Any) -> None:
    """contract: one field wrong at a time; the unchanged data load."""
    assert Encoder.from_json(GOOD).to_json() == GOOD
    with pytest.raises(TableError):
        Encoder.from_json(data)
