"""Random tables: a finite matrix or a TableError, never anything else."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdamp.tables import Encoder, TableError, TableWarning, read_table

ROWS = 12
EXAMPLES = 60
ENDINGS = [".csv", ".tsv", ".csv.gz", ".npz", ".parquet"]
FEW = st.sampled_from(["red", "blue", "Grün", "other", "1", "1.0", "", "NA"])
NUMBER = st.floats(allow_nan=True, allow_infinity=False)
CELL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    FEW,
    st.sampled_from(["1,234", "1.5", "1,5", "true", "2020-01-01", "2020-01-01T00:00Z", "inf", "5 %", "1/2/2020"]),
    st.datetimes(timezones=st.sampled_from([None, UTC])),
    st.dates(),
    st.decimals(),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.timedeltas(),
    st.sampled_from([pd.NaT, pd.NA, np.float32(1.5), np.int8(3), np.datetime64("2020-01-01"), Decimal("sNaN")]),
    st.sampled_from([[1], {"a": 1}, 10**400, date.min, datetime.max.replace(tzinfo=UTC), object(), b"x"]),
)


def column(cells: st.SearchStrategy) -> st.SearchStrategy[list]:
    """ROWS cells of one kind."""
    return st.lists(cells, min_size=ROWS, max_size=ROWS)


TIDY = st.one_of(
    column(NUMBER),
    column(st.integers(-5, 5)),
    column(st.booleans()),
    column(FEW),
    column(st.one_of(st.none(), st.integers(0, 3))).map(lambda cells: pd.array(cells, "Int64")),
    column(FEW).map(lambda cells: pd.Categorical(cells)),
    column(FEW).map(lambda cells: pd.array(cells, "string[pyarrow]")),
    column(st.dates(date(1900, 1, 1), date(2100, 1, 1))),
    column(st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(str)),
    column(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))).map(lambda c: pd.Series(c).dt.tz_localize("UTC")),
    column(NUMBER).map(lambda cells: np.array(cells, np.float64)),
)
TARGET = st.one_of(column(st.integers(0, 1)), column(FEW), column(NUMBER))


@st.composite
def tables(draw: st.DrawFn, columns: st.SearchStrategy) -> pd.DataFrame:
    """Up to five columns, some with the same names as those of other tables, and a target."""
    names = draw(st.lists(st.one_of(st.sampled_from("abcde"), st.text(max_size=3)), max_size=5, unique_by=str.strip))
    parts = {name: pd.Series(draw(columns)) for name in names}
    return pd.DataFrame({**parts, "target": pd.Series(draw(TARGET))})


def fitted(frame: pd.DataFrame) -> Encoder | None:
    """An encoder, or None for a table that cannot be learned and says so."""
    try:
        return Encoder.fit(frame, "target")
    except TableError:
        return None


@settings(max_examples=EXAMPLES)
@given(tables(TIDY), st.permutations(range(ROWS)))
def test_tidy_tables_become_finite_matrices(frame: pd.DataFrame, order: list[int]) -> None:
    """contract: finite; rows move with the rows; columns may come in any order; storing changes nothing."""
    encoder = fitted(frame)
    if encoder is None:
        return
    x, y = encoder.pairs(frame)
    assert x.shape == (encoder.usable_rows(frame).sum(), len(encoder.feature_names)) and len(y) == len(x)
    assert np.isfinite(x).all() and len(set(encoder.feature_names)) == len(encoder.groups) == x.shape[1]
    whole = encoder.transform(frame)
    np.testing.assert_array_equal(encoder.transform(frame.iloc[order, ::-1]), whole[order])
    loaded = Encoder.from_json(json.loads(json.dumps(encoder.to_json(), allow_nan=False)))
    np.testing.assert_array_equal(loaded.transform(frame), whole)
    np.testing.assert_array_equal(loaded.pairs(frame)[1], y)
    moved = Encoder.fit(frame.iloc[order], "target")
    assert moved.feature_names == encoder.feature_names
    np.testing.assert_array_equal(moved.transform(frame), whole)
    for row in range(0, ROWS, 5):  # a row does not depend on its company
        np.testing.assert_array_equal(encoder.transform(frame.iloc[[row]]), whole[[row]])


@settings(max_examples=EXAMPLES)
@given(tables(TIDY), tables(st.one_of(TIDY, column(CELL))))
def test_any_other_table_is_encoded_or_refused(frame: pd.DataFrame, other: pd.DataFrame) -> None:
    """contract: finite with the trained columns, or TableError."""
    encoder = fitted(frame)
    if encoder is None:
        return
    full = pd.DataFrame({**{name: frame[name] for name in frame}, **{name: other[name] for name in other}})
    try:
        x = encoder.transform(full)
        assert x.shape == (ROWS, len(encoder.feature_names)) and np.isfinite(x).all()
        encoder.target(full)
    except TableError as error:
        assert str(error)


@settings(max_examples=EXAMPLES)
@given(tables(column(CELL)))
def test_any_table_is_learned_or_refused(frame: pd.DataFrame) -> None:
    """contract: an encoder that encodes its own table, or TableError."""
    encoder = fitted(frame)
    if encoder is not None:
        x, _ = encoder.pairs(frame)
        assert np.isfinite(x).all() and len(x)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(), st.text(alphabet='ab1,;\t"\n\r é.-').map(str.encode)), st.sampled_from(ENDINGS))
def test_any_file_is_read_or_refused(tmp_path: Path, content: bytes, ending: str) -> None:
    """contract: a table with different names and at least one row, or TableError."""
    path = tmp_path / f"t{ending}"
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            frame = read_table(path)
    except TableError as error:
        assert str(path) in str(error)
    else:
        assert len(frame) and frame.columns.is_unique


def test_the_fuzz_reaches_encoders() -> None:
    """contract: most tidy tables are learned, so that the tests above look at something."""
    learned: list[bool] = []

    @settings(max_examples=60)
    @given(tables(TIDY))
    def count(frame: pd.DataFrame) -> None:
        learned.append(fitted(frame) is not None)

    count()
    assert np.mean(learned) > 0.4


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.text()),
        lambda a: st.lists(a) | st.dictionaries(st.text(), a),
    )
)
def test_any_json_is_refused(data: Any) -> None:
    """contract: nothing but TableError for JSON that no encoder wrote."""
    with pytest.raises(TableError):
        Encoder.from_json(data)
