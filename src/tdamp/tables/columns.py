"""Number and date columns: one matrix column each, and one more where cells can be missing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import dates, schema
from .cells import Cells
from .errors import TableError
from .numerals import USUAL, Notation
from .readers import DateReader, NumberReader

_FILLING = {"median": schema.number, "values": schema.flag, "marks": schema.flag}


@dataclass(frozen=True)
class Filling:
    """What a column of numbers becomes: its values with the median for missing cells, marks of these, or both."""

    median: float
    values: bool  # false when all cells there were equal, so that only the marks vary
    marks: bool  # true when training had missing cells

    @classmethod
    def fit(cls, numbers: np.ndarray) -> Filling:
        """Learn from float64 numbers with NaN, at least one of them a number."""
        there = np.sort(numbers[~np.isnan(numbers)])
        low, high = there[(len(there) - 1) // 2], there[len(there) // 2]
        # halves first: the sum of two large numbers overflows
        median = float(low) if low == high else float(low / 2 + high / 2)
        return cls(median, bool(there[0] != there[-1]), len(there) < len(numbers))

    @property
    def constant(self) -> bool:
        """Whether nothing varies at all."""
        return not (self.values or self.marks)

    def columns(self, numbers: np.ndarray) -> np.ndarray:
        """(rows, 1 or 2) without NaN."""
        gone = np.isnan(numbers)
        both = [np.where(gone, self.median, numbers)] * self.values + [gone.astype(np.float64)] * self.marks
        return np.stack(both, axis=1)

    def names(self, value: str, column: str) -> tuple[str, ...]:
        """Names of the matrix columns."""
        return (value,) * self.values + (f"{column} is missing",) * self.marks

    def fit_note(self, cells: Cells, median: str) -> list[str]:
        """Notes about missing cells in training."""
        if not self.marks:
            return []
        start = f"Column {cells.name}: {int(cells.missing.sum())} of {len(cells.values)} cells are missing"
        if not self.values:
            return [f"{start} and all others are {median}: only whether a cell is missing is used."]
        return [f"{start}, filled with the median {median} and marked by a column of its own."]

    def new_note(self, cells: Cells, median: str) -> list[str]:
        """Notes about missing cells in a column that had none in training."""
        gone = int(cells.missing.sum())
        if self.marks or not gone:
            return []
        return [
            f"Column {cells.name}: {gone} of {len(cells.values)} cells are missing, though none was in training: "
            f"filled with the median {median}."
        ]


@dataclass(frozen=True)
class NumberColumn:
    """Numbers as they are; truth values as 0 and 1."""

    name: str
    reader: NumberReader
    filling: Filling

    @classmethod
    def fit(cls, cells: Cells, reader: NumberReader, notes: list[str]) -> NumberColumn | None:
        """Learn the column; None, with a note, when it is constant."""
        numbers = reader.read(cells)
        filling = Filling.fit(numbers)
        if filling.constant:
            notes.append(f"Column {cells.name}: every cell is {filling.median:.6g}; left out.")
            return None
        notes += filling.fit_note(cells, f"{filling.median:.6g}")
        if reader.notation != USUAL:
            notes.append(f"Column {cells.name}: read with {_describe(reader.notation)}.")
        if len(numbers) > 2 and np.array_equal(numbers[1:], numbers[:-1] + 1):
            notes.append(
                f"Column {cells.name}: rises by one from row to row. If it only numbers the rows, drop it: it says "
                "nothing about new data."
            )
        return cls(cells.name, reader, filling)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the matrix columns."""
        return self.filling.names(self.name, self.name)

    def encode(self, cells: Cells, notes: list[str]) -> np.ndarray:
        """(rows, columns) without NaN."""
        notes += self.filling.new_note(cells, f"{self.filling.median:.6g}")
        return self.filling.columns(self.reader.read(cells))

    def to_json(self) -> dict[str, Any]:
        """The fitted column as plain data for JSON."""
        decimal, grouped = self.reader.notation
        how = {"decimal": decimal, "grouped": grouped, "boolean": self.reader.boolean}
        return {"kind": "number", "name": self.name, **how, **asdict(self.filling)}

    @classmethod
    def from_json(cls, data: Any) -> NumberColumn:
        """The inverse of `to_json`."""
        how = {"decimal": schema.one_of(".", ","), "grouped": schema.flag, "boolean": schema.flag}
        got = schema.fields(data, "number column", kind=schema.one_of("number"), name=schema.text, **how, **_FILLING)
        reader = NumberReader(Notation(got["decimal"], got["grouped"]), got["boolean"])
        return cls(got["name"], reader, _filling(got))


@dataclass(frozen=True)
class DateColumn:
    """Days since the first date of training."""

    name: str
    reader: DateReader
    origin: float  # days since 1970-01-01
    filling: Filling

    @classmethod
    def fit(cls, cells: Cells, reader: DateReader, notes: list[str]) -> DateColumn | None:
        """Learn the column; None, with a note, when it is constant."""
        days, zones = reader.read(cells)
        origin = float(np.nanmin(days))
        filling = Filling.fit(days - origin)
        if filling.constant:
            notes.append(f"Column {cells.name}: every cell is the date {dates.format_date(origin)}; left out.")
            return None
        if filling.values:
            utc = " UTC" if reader.zoned else ""
            notes.append(
                f"Column {cells.name}: dates, counted in days since the first one, {dates.format_date(origin)}{utc}."
            )
        if len(zones) > 1:
            notes.append(f"Column {cells.name}: times without a time zone are taken as UTC.")
        notes += filling.fit_note(cells, dates.format_date(origin + filling.median))
        return cls(cells.name, reader, origin, filling)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the matrix columns."""
        return self.filling.names(f"{self.name} (days)", self.name)

    def encode(self, cells: Cells, notes: list[str]) -> np.ndarray:
        """(rows, columns) without NaN."""
        days, zones = self.reader.read(cells)
        if zones and zones != {self.reader.zoned}:
            had = "with" if self.reader.zoned else "without"
            notes.append(
                f"Column {cells.name}: times came {had} a time zone in training, but not all do here: those without "
                "one are taken as UTC."
            )
        notes += self.filling.new_note(cells, dates.format_date(self.origin + self.filling.median))
        return self.filling.columns(days - self.origin)

    def to_json(self) -> dict[str, Any]:
        """The fitted column as plain data for JSON."""
        how = {"zoned": self.reader.zoned, "origin": self.origin}
        return {"kind": "date", "name": self.name, **how, **asdict(self.filling)}

    @classmethod
    def from_json(cls, data: Any) -> DateColumn:
        """The inverse of `to_json`."""
        how = {"zoned": schema.flag, "origin": schema.number}
        got = schema.fields(data, "date column", kind=schema.one_of("date"), name=schema.text, **how, **_FILLING)
        return cls(got["name"], DateReader(got["zoned"]), float(got["origin"]), _filling(got))


def _filling(got: dict[str, Any]) -> Filling:
    filling = Filling(float(got["median"]), got["values"], got["marks"])
    if filling.constant:
        raise TableError(f"Column {got['name']}: a stored column must have values or marks")
    return filling


def _describe(notation: Notation) -> str:
    mark, other = ("a decimal comma", "points") if notation.decimal == "," else ("a decimal point", "commas")
    return f"{mark} and {other} between thousands" if notation.grouped else mark
