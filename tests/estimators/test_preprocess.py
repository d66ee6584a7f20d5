"""From a table to a problem that can be trained; the federation's clients scale their rows by the same function."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.estimators.preprocess import check_rows, counted_rows, prepare, scale_rows, sorted_rows
from tdamp.estimators.validation import checked
from tdamp.training.data import check_data, check_groups
from tdamp.training.devices import mesh_of

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)) * [1, 10, 0.1] + [0, 5, 0], RNG.normal(size=60)
LABELS = np.where(Y > 0, "yes", "no")


def test_a_problem_is_in_the_engines_units() -> None:
    """identity: columns of mean zero and variance one, in float32 and in an order of their own, whatever that was."""
    model, order = TDAMPRegressor((4,)), RNG.permutation(60)
    problem, again = prepare(model, X, Y, None), prepare(TDAMPRegressor((4,)), X[order], Y[order], None)
    assert problem.network.widths == (3, 4, 1) and problem.fraction == 0.1 and problem.start is None
    for ours, theirs in zip(problem.data, again.data, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(problem.data.x.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(problem.data.x.std(0), 1, rtol=1e-5)
    assert problem.data.x.dtype == problem.data.y.dtype == np.float32


@pytest.mark.parametrize("classes", [False, True])
def test_clients_have_the_rows_of_an_estimator(classes: bool) -> None:
    """twin: checked rows scaled by the estimator's own scales are those of its problem."""
    model: Any = (TDAMPClassifier if classes else TDAMPRegressor)((4,))
    y = LABELS if classes else Y
    data = prepare(model, X, y, None).data
    y_scales = (np.zeros(0),) * 2 if classes else (model.y_mean_, model.y_scale_)
    rows = check_rows(model, X, y, None, reset=False)
    scaled = scale_rows(*rows, (model.x_mean_, model.x_scale_), y_scales, model.classes_ if classes else None)
    for ours, theirs in zip(scaled, data, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("which", ["X", "y"])
def test_numbers_that_are_too_far_away_are_refused(which: str) -> None:
    """contract: 1e39, which float32 has no room for, is an error that names it, not an infinity."""
    x, y = X.copy(), Y.copy()
    (x if which == "X" else y)[7] = 1e39
    with pytest.raises(ValueError, match=rf"{which} has 1e\+39"):
        scale_rows(x, y, np.ones(60), (np.zeros(3), np.ones(3)), (np.zeros(1), np.ones(1)))


def test_weights_are_copies() -> None:
    """identity: whole weights make so many copies, none of them a weight of zero; others stay weights."""
    weight = RNG.integers(0, 3, 60).astype(float)
    x, y, ones = sorted_rows(*counted_rows(X, Y, weight))
    assert len(x) == weight.sum() and set(ones) == {1.0}
    np.testing.assert_allclose(np.sort(y), np.sort(np.repeat(Y, weight.astype(int))))
    x, y, halves = counted_rows(X, Y, 0.5 * weight)
    assert len(x) == (weight > 0).sum() and set(halves) == {0.5, 1.0}


def calls_of(functions: list[Any], work: Any) -> list[int]:
    """How often each function is called by some work, in any thread."""
    counts = {function.__code__: 0 for function in functions}

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in counts:
            counts[frame.f_code] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(counts.values())


def test_a_fit_checks_its_data_once_and_makes_one_mesh() -> None:
    """contract: of six trainings, five of them on folds; the engine's own check of arrays is not needed any more."""
    model = TDAMPRegressor((4,), max_epochs=1, random_state=0, groups=[[0, 1]])
    assert calls_of([checked, check_groups, mesh_of, check_data], lambda: model.fit(X, Y)) == [1, 1, 1, 0]
    assert model.history_["held_out"].notna().all()
