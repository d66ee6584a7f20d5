"""Texts as numbers and dates: read where they can mean one thing only.

covers: tables.dates, tables.kinds, tables.numerals, tables.readers
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdamp.tables import TableError, dates
from tdamp.tables.cells import cells_of
from tdamp.tables.kinds import reader_of
from tdamp.tables.numerals import Notation, guess
from tdamp.tables.readers import DateReader, NumberReader


def numbers(texts: list[str]) -> list[float] | None:
    """The column of these texts as numbers, or None when it is none of numbers."""
    cells = cells_of(pd.Series(texts), "c")
    reader = reader_of(cells)
    return reader.read(cells).tolist() if isinstance(reader, NumberReader) else None


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "-2.5", "+3e2", ".5", "1."], [1, -2.5, 300, 0.5, 1]),
        (["1,234.5", "2,000"], [1234.5, 2000]),
        (["1,234,567", "2,000"], [1234567, 2000]),
        (["2,000", "0.5"], [2000, 0.5]),
        (["1.234,5", "2.000"], [1234.5, 2000]),
        (["1,5", "2,25", "3"], [1.5, 2.25, 3]),
        (["0,125", "2,500"], [0.125, 2.5]),
        (["1.234.567", "2.000"], [1234567, 2000]),
        (["1.234", "2.000"], [1.234, 2]),
        (["1 234", "5'000", "1\u202f000,5"], [1234, 5000, 1000.5]),
        (["\u22125", "7"], [-5, 7]),
        (["\u22125", "1.234"], [-5, 1.234]),
        (["true", "FALSE"], [1, 0]),
        (["007", "1e-400"], [7, 0]),
        (["a", "1"], None),
        (["0x1F", "1_000", "٣"], None),
        (["12,34,567", "1,5.5"], None),
    ],
)
def test_numbers_in_every_notation(texts: list[str], expected: list[float] | None) -> None:
    """contract: values worked out by hand."""
    assert numbers(texts) == expected


@pytest.mark.parametrize("texts", [["1,234"], ["12", "1,234", "950,000"], ["1,234", "1.234"]])
def test_two_readings_are_an_error(texts: list[str]) -> None:
    """contract: no cell decides between thousands and decimals."""
    with pytest.raises(TableError, match=r"column c, row \d: '1,234' may mean 1234 or 1.234"):
        numbers(texts)


def test_a_decided_notation_stays_decided() -> None:
    """contract: what training did not settle is not guessed later."""
    assert Notation(".", True).read("1,234") == 1234 and Notation(",", False).read("1,234") == 1.234
    assert Notation(",", True).read("1.234") == 1234 and Notation().read("1.234") == 1.234
    assert Notation().read("1,234") is None and Notation(",").read("1.234") is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_printed_floats_come_back(values: list[float]) -> None:
    """identity: repr and back, bit for bit."""
    assert numbers([repr(value) for value in values]) == values


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.sampled_from([(".", ","), (",", ".")]))
def test_grouped_numbers_come_back(values: list[int], marks: tuple[str, str]) -> None:
    """identity: hundredths printed with thousands separators, in both conventions."""
    decimal, group = marks
    texts = [f"{v / 100:,.2f}".replace(",", "g").replace(".", decimal).replace("g", group) for v in values]
    assert numbers(texts) == [float(f"{v / 100:.2f}") for v in values]
    assert guess(texts).notation.decimal == decimal


def test_mistakes_among_numbers_are_shown() -> None:
    """contract: 9 of 10 cells are numbers; the tenth is shown with its place, missing marks are not."""
    good = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
    assert numbers([*good, "N/A", "?", "nan", "null", ""])[:9] == [float(g) for g in good]  # type: ignore[index]
    with pytest.raises(TableError, match="column c, row 9: 'abc' is not a number, but 9 of 10 cells"):
        numbers([*good, "abc"])
    assert numbers([*good[:8], "abc"]) is None  # 8 of 9 are fewer than 90 %: categories


@pytest.mark.parametrize("cell", [np.inf, -np.inf, "inf", "-Infinity", "1e999"])
def test_infinite_cells_are_an_error(cell: object) -> None:
    """contract: floats and texts, with their place."""
    cells = cells_of(pd.Series([1.0, 2.0, cell] if isinstance(cell, float) else ["1", "2", cell]), "c")
    with pytest.raises(TableError, match="column c, row 2: the number is infinite"):
        NumberReader().read(cells)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-02", 1.0),
        ("1969-12-31", -1.0),
        ("2000-03-01", 11017.0),
        ("1970-01-01T06:00", 0.25),
        ("1970-01-01 06:00:00.000", 0.25),
        ("1970-01-01T00:00:00Z", 0.0),
        ("1970-01-01T00:00:00+06:00", -0.25),
        ("1970-01-01 12:00:00 +0600", 0.25),
        ("2021-02-29", None),
        ("01/02/1970", None),
        ("19700102", None),
        ("0001-01-01T00:00:00+06:00", None),
    ],
)
def test_dates_as_days(text: str, days: float | None) -> None:
    """contract: days since 1970 by hand; days that do not exist are no dates."""
    time = dates.parse(text)
    assert (time.days if time else None) == days


@given(st.datetimes(min_value=datetime(1800, 1, 1), max_value=datetime(2200, 1, 1)))
def test_four_ways_to_give_a_time_agree(when: datetime) -> None:
    """twin: ISO text, Python object, pandas column with and without time zone."""
    zoned = pd.Series([pd.Timestamp(when)]).dt.tz_localize("UTC").dt.tz_convert("Asia/Kathmandu")
    columns = [
        pd.Series([when.isoformat()]),
        pd.Series([when.replace(tzinfo=UTC)], dtype=object),
        pd.Series([pd.Timestamp(when)]),
        zoned,
        zoned.astype(str),
    ]
    results = [DateReader().read(cells_of(column, "c"))[0][0] for column in columns]
    assert np.ptp(results) < 1e-10  # a hundredth of a millisecond
    assert isinstance(reader_of(cells_of(columns[0], "c")), DateReader)
