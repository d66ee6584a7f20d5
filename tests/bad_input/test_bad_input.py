"""The table of bad input: each kind works, as the plain values it stands for, or is refused with a remedy.

covers: estimators.error_hints
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import bad_calls, bad_x, bad_y
from helpers.bad_files import FILES, check_file
from helpers.bad_kinds import (
    LABELS,
    ROWS,
    Kind,
    Refused,
    X,
    Y,
    assert_proper,
    check_refused,
    classifier,
    expect_warning,
    regressor,
)
from tdamp import TrainingWarning

GROUPS = {
    "X": bad_x.KINDS,
    "y": bad_y.TARGETS,
    "labels": bad_y.CLASSES,
    "weights": bad_y.WEIGHTS,
    "predict": bad_calls.PREDICT,
    "scores": bad_calls.SCORES,
    "streams": bad_calls.STREAMS,
    "parameters": bad_calls.PARAMETERS,
    "files": FILES,
}


def kinds(group: str) -> Any:
    """One test case for each kind of the group."""
    return pytest.mark.parametrize("kind", GROUPS[group], ids=lambda kind: kind.name)


def assert_same_predictions(model: Any, x: Any, reference: Any, plain: Any, rtol: float) -> None:
    """Mean and standard deviation are assert_proper, and those of the model of the plain table."""
    mean, std = model.predict(x, return_std=True)
    assert_proper(mean, std)
    expected = reference.predict(plain, return_std=True)
    np.testing.assert_allclose(mean, expected[0].reshape(mean.shape), rtol=rtol, atol=rtol * np.abs(mean).max())
    np.testing.assert_allclose(std, expected[1].reshape(std.shape), rtol=rtol)


@kinds("X")
def test_kinds_of_x(kind: Kind) -> None:
    """contract: works like the plain table, in fit and predict, or is refused by both with a remedy."""
    if isinstance(kind.outcome, Refused):
        check_refused(kind.outcome, lambda: regressor().fit(kind.make(), Y))
        return
    plain = np.asarray(kind.outcome.read_as(), np.float64)
    model = expect_warning(kind.outcome.warns, lambda: regressor().fit(kind.make(), Y))
    assert model.n_features_in_ == 3
    reference = regressor().fit(plain, Y)
    expect_warning(
        kind.outcome.warns, lambda: assert_same_predictions(model, kind.make(), reference, plain, kind.outcome.rtol)
    )


@kinds("y")
def test_kinds_of_y(kind: Kind) -> None:
    """contract: works like the plain numbers, with a mean on their scale, or is refused with a remedy."""
    if isinstance(kind.outcome, Refused):
        check_refused(kind.outcome, lambda: regressor().fit(X, kind.make()))
        return
    plain = np.asarray(kind.outcome.read_as(), np.float64)
    model = expect_warning(kind.outcome.warns, lambda: regressor().fit(X, kind.make()))
    mean, std = model.predict(X, return_std=True)
    assert_proper(mean, std)
    scale = max(np.ptp(plain), 1e-10 * np.abs(plain).max(), 1e-300 if np.ptp(plain) else 1.0)
    assert (np.abs(mean.ravel() / scale - plain.mean() / scale) < 3).all()
    if np.ptp(plain) and 1e-20 < scale < 1e20:  # the same numbers on the scale of Y
        assert_same_predictions(model, X, regressor().fit(X, plain), X, kind.outcome.rtol)


@kinds("labels")
def test_kinds_of_labels(kind: Kind) -> None:
    """contract: the classes are the plain ones, exactly; probabilities are theirs; or an error with a remedy."""
    if isinstance(kind.outcome, Refused):
        check_refused(kind.outcome, lambda: classifier().fit(X, kind.make()))
        return
    plain = np.asarray(kind.outcome.read_as())
    model = expect_warning(kind.outcome.warns, lambda: classifier().fit(X, kind.make()))
    assert model.classes_.tolist() == np.unique(plain).tolist()
    probs = model.predict_proba(X)
    np.testing.assert_allclose(probs.sum(1), 1)
    codes = np.searchsorted(np.unique(plain), plain)
    np.testing.assert_allclose(probs, classifier().fit(X, codes).predict_proba(X), rtol=1e-6)
    assert set(model.predict(X).tolist()) <= set(plain.tolist())


@kinds("weights")
def test_kinds_of_weights(kind: Kind) -> None:
    """contract: works like plain weights, or is refused with a remedy."""
    if isinstance(kind.outcome, Refused):
        check_refused(kind.outcome, lambda: regressor().fit(X, Y, sample_weight=kind.make()))
        return
    model = expect_warning(kind.outcome.warns, lambda: regressor().fit(X, Y, sample_weight=kind.make()))
    plain = np.asarray(kind.outcome.read_as(), np.float64)
    expect_warning("", lambda: assert_same_predictions(model, X, fit_with_plain_weights(plain), X, 1e-6))


def fit_with_plain_weights(weight: np.ndarray) -> Any:
    """The fit with plain weights; rows of weight zero are left out by hand."""
    there = weight > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        return regressor().fit(X[there], Y[there], sample_weight=weight[there])


@pytest.mark.parametrize("kind", [k for g in ("predict", "scores", "streams") for k in GROUPS[g]], ids=lambda k: k.name)
def test_kinds_of_calls(kind: Kind) -> None:
    """contract: gives what the plain call gives, or is refused with a remedy."""
    if isinstance(kind.outcome, Refused):
        check_refused(kind.outcome, kind.make)
    else:
        np.testing.assert_allclose(expect_warning(kind.outcome.warns, kind.make), kind.outcome.read_as(), rtol=1e-6)


@kinds("parameters")
def test_kinds_of_parameters(kind: Kind) -> None:
    """contract: each is refused by fit; the message begins with the parameter and says what it may be."""
    assert isinstance(kind.outcome, Refused)
    check_refused(kind.outcome, kind.make)


@kinds("files")
def test_kinds_of_files(kind: Kind, tmp_path: Any) -> None:
    """contract: `tdamp fit` learns the file, or ends with one line that names the file, the fault and the remedy."""
    check_file(kind, tmp_path)


def test_one_row_warns() -> None:
    """contract: a single row is learned, with a warning that says what to do; one column needs none."""
    model = expect_warning("X has one row.*Use more rows", lambda: regressor().fit(X[:1], Y[:1]))
    assert_proper(*model.predict(X, return_std=True))
    assert_proper(*expect_warning("", lambda: regressor().fit(X[:, :1], Y)).predict(X[:, :1], return_std=True))


def test_a_fit_that_fails_changes_nothing() -> None:
    """identity: after errors of the data, of a parameter, and of training, the old model predicts as before."""
    model = regressor().fit(X, Y)
    before = model.predict(X)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for change, error in (
        ({}, ValueError),
        ({"keep": 1.5}, ValueError),
        ({"callbacks": [interrupt]}, KeyboardInterrupt),
    ):
        y = np.full(ROWS, np.nan) if not change else 100 * Y
        with pytest.raises(error):
            model.set_params(**change).fit(np.c_[X, X] if not change else 7 * X + 1, y)
        model.set_params(keep=None, callbacks=None)
        np.testing.assert_array_equal(model.predict(X), before)
    labels = classifier().fit(X, LABELS)
    with pytest.raises(ValueError, match="only one class"):
        labels.fit(X, np.zeros(ROWS, int))
    assert labels.classes_.tolist() == [0, 1]


def counts_in_docs() -> list[tuple[int, ...]]:
    """The rows of the table in docs/reliability.md: in all, working, refused; the last row is their sum."""
    text = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()
    table = text.partition("| kinds of | in all | work |")[2].partition("\n\n")[0]
    rows = [tuple(map(int, re.findall(r"(?<=\| )\d+(?= \|)", line))) for line in table.splitlines()[2:]]
    return [(in_all, working, refused) for in_all, working, _, refused in rows]


def test_the_table_is_complete() -> None:
    """identity: as many kinds in each group, working and refused, as docs/reliability.md says; none stands twice."""
    counts = []
    for group, members in GROUPS.items():
        assert max(Counter(kind.name for kind in members).values()) == 1, group
        refused = sum(isinstance(kind.outcome, Refused) for kind in members)
        counts.append((len(members), len(members) - refused, refused))
    *groups, total = counts_in_docs()
    assert counts == groups
    assert tuple(map(sum, zip(*counts, strict=True))) == total
    for group in ("X", "y", "labels", "weights", "predict", "files"):
        assert len({type(kind.outcome) for kind in GROUPS[group]}) == 2
