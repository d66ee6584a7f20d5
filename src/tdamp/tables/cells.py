"""The cells of one column in one of few forms, whatever type they came in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import dates
from .errors import TableError

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["number", "bool", "date", "text", "category"]
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "<na>", "?"})
_LONGEST_MARK = max(map(len, MISSING))
_NUMBERS = (int, float, Decimal, Fraction, np.integer, np.floating)
LINE = "line"  # name of an index that holds line numbers of a file


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: its form, and its values as float64 with NaN, or as str with None, for missing cells.

    Dates are days since 1970-01-01 UTC. A column with no cell in it has the form number.
    """

    name: str
    form: Form
    values: np.ndarray
    series: pd.Series
    zones: frozenset[bool] = field(default=frozenset())

    @cached_property
    def missing(self) -> np.ndarray:
        """Which cells are missing."""
        if self.values.dtype == object:
            return np.array([value is None for value in self.values], bool)
        return np.isnan(self.values)

    def texts(self) -> np.ndarray:
        """Every cell as text, None where it is missing."""
        if self.values.dtype == object:
            return self.values
        cells = zip(self.series.astype(object), self.missing, strict=True)
        return _objects(None if gone else as_text(value) for value, gone in cells)

    def place(self, row: int) -> str:
        """Where a cell is, in words."""
        return place(self.series, self.name, row)


def place(series: pd.Series, name: str, row: int) -> str:
    """Column and line of a file, or column and row label of a frame."""
    index = series.index
    word = "line" if isinstance(index.name, str) and index.name == LINE else "row"
    return f"column {name}, {word} {index[row]}"


def cells_of(series: pd.Series, name: str) -> Cells:
    """The cells of a pandas column of any dtype, or TableError at the first cell that no form holds."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
        dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        cells = _of_objects(series, name)
        return Cells(name, "category", cells.texts(), series)
    if isinstance(dtype, pd.DatetimeTZDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "M"):
        return _of_dates(series, name)
    if not isinstance(dtype, pd.ArrowDtype) and pd.api.types.is_numeric_dtype(dtype) and dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, which is an error later
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Cells(name, "bool" if dtype.kind == "b" else "number", values, series)
    return _of_objects(series, name)


def as_text(value: Any) -> str:
    """How a cell is written: whole numbers without a point, dates in ISO form, texts without outer spaces."""
    if isinstance(value, str):
        return value.replace("\0", "").strip()  # NumPy cannot keep a trailing NUL
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def _text(value: str) -> str | None:
    """The text without outer spaces, or None for a mark of a missing cell."""
    text = value.strip() if "\0" not in value else as_text(value)
    return None if len(text) <= _LONGEST_MARK and text.lower() in MISSING else text


def _of_dates(series: pd.Series, name: str) -> Cells:
    zoned = getattr(series.dtype, "tz", None) is not None
    clock = (series.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else series).to_numpy()
    unit, count = np.datetime_data(clock.dtype)
    day = np.timedelta64(1, "D") / np.ones((), f"m8[{count}{unit}]")
    # counted in the column's own unit: a change of unit overflows for far dates
    values = np.where(np.isnat(clock), np.nan, clock.astype(np.int64) / day)
    return Cells(name, "date", values, series, frozenset({zoned}))


def _of_objects(series: pd.Series, name: str) -> Cells:
    objects = list(series.astype(object))
    if set(map(type, objects)) == {str}:  # files of text: by far the most cells, so not one by one
        texts = [_text(value) for value in objects]
        if any(text is not None for text in texts):
            return Cells(name, "text", _objects(texts), series)
    kinds_of = []
    for row, value in enumerate(objects):
        try:
            kinds_of.append(_kind(value))
        except TableError as error:
            raise TableError(f"{place(series, name, row)}: {error}") from None
    kinds = set(kinds_of) - {"missing"}
    if kinds <= {"number", "bool"}:
        values = [np.nan if kind == "missing" else float(value) for value, kind in zip(objects, kinds_of, strict=True)]
        return Cells(name, "bool" if kinds == {"bool"} else "number", np.array(values, np.float64), series)
    if kinds == {"date"}:
        times = [None if kind == "missing" else _instant(v, name) for v, kind in zip(objects, kinds_of, strict=True)]
        zones = frozenset(time.zoned for time in times if time)
        return Cells(name, "date", np.array([time.days if time else np.nan for time in times]), series, zones)
    pairs = zip(objects, kinds_of, strict=True)
    return Cells(name, "text", _objects(None if kind == "missing" else as_text(v) for v, kind in pairs), series)


def _kind(value: Any) -> str:
    """What one Python object is; TableError for one that is nothing a table can hold."""
    import pandas as pd

    if isinstance(value, str):
        return "missing" if _text(value) is None else "text"
    if value is None or value is pd.NA or value is pd.NaT:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, date | np.datetime64):
        return "missing" if isinstance(value, np.datetime64) and np.isnat(value) else "date"
    if isinstance(value, Decimal) and value.is_nan():  # a signalling NaN cannot even be compared
        return "missing"
    if isinstance(value, _NUMBERS) and not isinstance(value, np.timedelta64):
        try:
            return "missing" if np.isnan(float(value)) else "number"
        except OverflowError as error:
            raise TableError("the number is too large: correct the cell, or leave it empty") from error
    raise TableError(
        f"a cell of type {type(value).__name__} is neither a number, a text nor a date: convert the column or drop it"
    )


def _instant(value: Any, name: str) -> dates.Instant:
    import pandas as pd

    try:
        if isinstance(value, np.datetime64):
            value = pd.Timestamp(value)
        if isinstance(value, pd.Timestamp):
            value = value.to_pydatetime(warn=False)
        return dates.instant(value)
    except (ValueError, OverflowError) as error:
        raise TableError(f"column {name}: the date {value} is outside the calendar's range") from error


def _objects(values: Iterable[str | None]) -> np.ndarray:
    items = values if isinstance(values, list) else list(values)
    array = np.empty(len(items), object)
    array[:] = items
    return array
