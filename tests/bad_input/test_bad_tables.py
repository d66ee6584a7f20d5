"""Random tables of mixed kinds: a clear error, or finite predictions that are proper distributions."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from helpers.bad_kinds import ROWS, assert_proper, classifier, regressor
from tdamp import TrainingWarning

EXAMPLES = 40
MANY_EXAMPLES = 1500
TASKS = ("regression", "classification")

NUMBER = st.one_of(
    st.floats(-100, 100),
    st.floats(-1e250, 1e250),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0.0, -0.0, 1e30, 1e-30, 5e-324, 1e250, 2.0**53 + 2]),
)
RARE = st.sampled_from(
    [np.nan, np.inf, -np.inf, None, 1.7e308, "red", "1.5", "", True, b"x", 1j, pd.NA, pd.Timestamp("2020"), [1]]
)
SMOOTH = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(size=ROWS).tolist())


@st.composite
def columns(draw: st.DrawFn) -> list[Any]:
    """ROWS cells: most columns are numbers, some of one value, and a few have a cell that is none."""
    cells = draw(
        st.one_of(SMOOTH, SMOOTH, st.lists(NUMBER, min_size=ROWS, max_size=ROWS), NUMBER.map(lambda v: [v] * ROWS))
    )
    scale, offset = draw(
        st.sampled_from([(1.0, 0.0), (1.0, 0.0), (1e30, 0.0), (1e-200, 0.0), (1.0, 1e9), (1e-3, -1e15)])
    )
    if isinstance(cells[0], float) and draw(st.booleans()):
        cells = [float(np.clip(cell, -1e270, 1e270)) * scale + offset for cell in cells]
    if draw(st.sampled_from(range(16))) == 11:
        cells = list(cells)
        cells[draw(st.integers(0, ROWS - 1))] = draw(RARE)
    return cells


DTYPES = st.sampled_from(
    [None, None, float, np.float32, np.float16, np.int64, np.uint8, object, ">f8", "Float64", "Int64"]
)
FORMS = st.sampled_from(["array", "array", "frame", "list", "masked", "fortran"])
LABELS = st.one_of(
    st.lists(st.sampled_from(["u", "v"]), min_size=ROWS, max_size=ROWS),
    st.lists(st.integers(-1, 1), min_size=ROWS, max_size=ROWS).map(lambda y: [v if v else 1 for v in y]),
    st.lists(st.booleans(), min_size=ROWS, max_size=ROWS),
    st.lists(st.sampled_from(["u", "v", None, 1, 2.5]), min_size=ROWS, max_size=ROWS),
    columns().map(lambda cells: cells[:2] * (ROWS // 2)),  # two classes share one compiled program
)
WEIGHTS = st.one_of(
    *[st.none()] * 4,
    st.lists(st.integers(0, 2), min_size=ROWS, max_size=ROWS),
    st.lists(st.floats(0, 3), min_size=ROWS, max_size=ROWS),
    columns(),
)


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """Three columns in some container and type; what cannot be made is given as objects."""
    cells = [draw(columns()) for _ in range(3)]
    form, dtype = draw(FORMS), draw(DTYPES)
    if form == "list":
        return [list(row) for row in zip(*cells, strict=True)]
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in zip("abc", cells, strict=True)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            typed = frame if dtype is None else frame.astype(dtype)
        except (ValueError, TypeError, OverflowError):
            typed = frame
    if form == "frame":
        return typed
    array = typed.to_numpy() if dtype is None else np.array(typed)
    if form == "masked":
        return np.ma.MaskedArray(array, mask=draw(st.booleans()) and np.eye(*array.shape, dtype=bool))
    return np.asfortranarray(array) if form == "fortran" else array


def _check_predictions(model: Any, X: Any) -> None:
    if hasattr(model, "classes_"):
        probs = model.predict_proba(X)
        assert probs.shape == (ROWS, len(model.classes_)) and np.isfinite(probs).all()
        np.testing.assert_allclose(probs.sum(1), 1)
        assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())
    else:
        mean, std = model.predict(X, return_std=True)
        assert_proper(mean, std)
        interval = model.predict_interval(X)
        assert mean.shape == (ROWS,) and (interval[:, 0] <= interval[:, 1]).all() and np.isfinite(interval).all()


def outcome(model: Any, X: Any, y: Any, weight: Any) -> str:
    """How a fit and its predictions ended; anything but a clear error or proper predictions fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a RuntimeWarning is a number that went wrong without a word
        for kind in (TrainingWarning, DataConversionWarning):
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        try:
            model.fit(X, y, sample_weight=weight)
        except (ValueError, TypeError) as error:
            assert type(error) in (ValueError, TypeError), repr(error)  # no library's own
            assert 20 < len(str(error)) < 2000 and "Traceback" not in str(error), repr(error)
            assert not hasattr(model, "fitted_") and not hasattr(model, "n_features_in_")
            return "refused"
        try:
            _check_predictions(model, X)
        except ValueError as error:  # rows of weight zero may lie further away than any that were learned from
            assert "times the scale of the training data" in str(error) and weight is not None, repr(error)
            return "refused"
    return "learned"


def count(examples: int) -> Counter[str]:
    """The outcomes of both, over so many examples each."""
    result: Counter[str] = Counter()

    @settings(max_examples=examples)
    @given(tables(), columns(), LABELS, WEIGHTS)
    def run(X: Any, y: list[Any], labels: list[Any], weight: Any) -> None:
        result[f"regression {outcome(regressor(), X, y, weight)}"] += 1
        result[f"classification {outcome(classifier(), X, labels, weight)}"] += 1

    run()
    return result


def test_random_tables() -> None:
    """contract: a clear error, or predictions that are proper distributions; both are met often."""
    result = count(EXAMPLES)
    assert min(result[f"{task} {end}"] for task in TASKS for end in ("learned", "refused")) >= EXAMPLES / 10, result


@pytest.mark.soak
def test_many_random_tables() -> None:
    """contract: as above, thousands of times; the outcomes are printed (run with -s)."""
    result = count(MANY_EXAMPLES)
    print(dict(result))
    assert result.total() >= MANY_EXAMPLES
