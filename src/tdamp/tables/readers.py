"""Cells as numbers or as days, by rules fixed in training, or an error that shows the first cell that is neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import dates
from .cells import Cells
from .errors import TableError
from .numerals import USUAL, Notation, all_plain

TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class NumberReader:
    """Numbers in one notation; the texts true and false only in a column of truth values."""

    notation: Notation = USUAL
    boolean: bool = False

    def read(self, cells: Cells) -> np.ndarray:
        """float64 with NaN for missing cells; infinite ones are an error."""
        if cells.form == "date":
            raise TableError(f"column {cells.name}: holds dates, but numbers are expected")
        values = self._texts(cells) if cells.values.dtype == object else cells.values
        infinite = np.isinf(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise TableError(
                f"{cells.place(row)}: the number is infinite or too large: correct the cell, or leave it empty"
            )
        return values

    def number(self, text: str) -> float | None:
        """The number a text stands for, or None."""
        if self.boolean and text.lower() in TRUTH:
            return TRUTH[text.lower()]
        return self.notation.read(text)

    def _texts(self, cells: Cells) -> np.ndarray:
        here = np.flatnonzero(~cells.missing)
        texts = cells.values[here]
        values = np.full(len(cells.values), np.nan)
        if self.notation.decimal == "." and all_plain(texts):
            values[here] = texts.astype(np.float64)
            return values
        known = {text: self.number(text) for text in set(texts)}
        for row, text in zip(here, texts, strict=True):
            number = known[text]
            if number is None:
                raise TableError(f"{cells.place(int(row))}: {text!r} is not a number{self._how()}")
            values[row] = number
        return values

    def _how(self) -> str:
        if self.boolean:
            return " or truth value"
        return " with a decimal comma, as the column had in training" if self.notation.decimal == "," else ""


@dataclass(frozen=True)
class DateReader:
    """Dates, and whether those of training came with a time zone."""

    zoned: bool = False

    def read(self, cells: Cells) -> tuple[np.ndarray, frozenset[bool]]:
        """Days since 1970-01-01 with NaN for missing cells; with and/or without time zones."""
        if cells.form == "date":
            return cells.values, cells.zones
        if cells.values.dtype != object:
            if cells.missing.all():
                return cells.values, frozenset()
            raise TableError(f"column {cells.name}: holds numbers, but dates such as 2020-12-31 are expected")
        values, zones = np.full(len(cells.values), np.nan), set()
        known = {text: dates.parse(text) for text in set(cells.values) - {None}}
        for row in np.flatnonzero(~cells.missing):
            time = known[cells.values[row]]
            if time is None:
                raise TableError(f"{cells.place(int(row))}: {cells.values[row]!r} is not a date such as 2020-12-31")
            values[row] = time.days
            zones.add(time.zoned)
        return values, frozenset(zones)
