"""Category columns: one matrix column for each frequent level, one for the rest, one for missing cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import schema
from .cells import Cells, as_text
from .errors import TableError, listing
from .kinds import likeness
from .numerals import PLAIN
from .readers import TRUTH

MAX_LEVELS = 30
OTHER = "other"
NEARLY_ALL_DIFFER = 0.9  # share of different texts above which a column names its rows rather than sorting them


class Lookup:
    """Position of a level by its text; 1.0 also finds 1, and true finds True, where only one level is meant."""

    def __init__(self, levels: Sequence[str]) -> None:
        """Index these levels, which must differ."""
        self._exact = {level: position for position, level in enumerate(levels)}
        forms = Counter(plain_form(level) for level in levels)
        self._loose = {plain_form(level): i for level, i in self._exact.items() if forms[plain_form(level)] == 1}

    def find(self, text: str) -> int | None:
        """The position, or None for a text that is no level."""
        exact = self._exact.get(text)
        return self._loose.get(plain_form(text)) if exact is None else exact


def plain_form(text: str) -> str:
    """1 for 1.0 and +1, True for TRUE; other texts as they are."""
    if text.lower() in TRUTH:
        return text.capitalize()
    if PLAIN.fullmatch(text) and np.isfinite(float(text)) and abs(float(text)) < 2**53:
        return as_text(float(text))
    return text


@dataclass(frozen=True)
class CategoryColumn:
    """Levels in order of frequency; `other` and `marks` state whether rare levels and missing cells have columns."""

    name: str
    levels: tuple[str, ...]
    other: bool
    marks: bool

    @classmethod
    def fit(cls, cells: Cells, notes: list[str]) -> CategoryColumn | None:
        """Learn the levels; None, with a note, when the column is constant or nearly all of its texts differ."""
        texts = [text for text in cells.texts() if text is not None]
        counts = Counter(texts)
        marks = len(texts) < len(cells.values)
        if len(counts) == 1 and not marks:
            notes.append(f"Column {cells.name}: every cell is {texts[0]!r}; left out.")
            return None
        if len(counts) > 1 and len(counts) > NEARLY_ALL_DIFFER * len(texts):
            notes.append(
                f"Column {cells.name}: {len(counts)} different texts in {len(texts)} cells, like a name or a number "
                f"given to each row; left out.{likeness(texts)}"
            )
            return None
        ranked = sorted(counts, key=lambda text: (-counts[text], text))
        # a level that is itself called other is the natural home of the rest
        kept = tuple(text for text in ranked[:MAX_LEVELS] if (counts[text] > 1 or len(counts) == 1) and text != OTHER)
        rest = set(counts) - set(kept)
        if rest - {OTHER}:
            rare = f"{len(rest)} of {len(counts)} levels are rare ({sum(counts[text] for text in rest)} of"
            notes.append(f"Column {cells.name}: {rare} {len(texts)} cells) and joined into {OTHER!r}.")
        if marks:
            gone = len(cells.values) - len(texts)
            total = len(cells.values)
            notes.append(f"Column {cells.name}: {gone} of {total} cells are missing, marked by a column of their own.")
        return cls(cells.name, kept, bool(rest), marks)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the matrix columns."""
        levels = self.levels + (OTHER,) * self.other
        return tuple(f"{self.name}={level}" for level in levels) + (f"{self.name} is missing",) * self.marks

    def encode(self, cells: Cells, notes: list[str]) -> np.ndarray:
        """(rows, columns) of 0 and 1; at most a single 1 in a row."""
        texts = cells.texts()
        lookup, n_levels = Lookup(self.levels), len(self.levels)
        outside = n_levels if self.other else -1
        codes = {text: lookup.find(text) for text in set(texts) - {None}}
        missing = n_levels + self.other if self.marks else outside
        where = [missing if text is None else outside if codes[text] is None else codes[text] for text in texts]
        self._add_notes(texts, codes, notes)
        matrix = np.zeros((len(texts), len(self.names)))
        place = np.array(where, np.int64)
        rows = np.flatnonzero(place >= 0)
        matrix[rows, place[rows]] = 1
        return matrix

    def _add_notes(self, texts: np.ndarray, codes: dict[str, int | None], notes: list[str]) -> None:
        fate = f"counted as {OTHER!r}" if self.other else "all its columns are 0 there"
        new = sorted(text for text, position in codes.items() if position is None and text != OTHER)
        if new:
            cells = sum(text is not None and codes[text] is None and text != OTHER for text in texts)
            what = "rare or new levels" if self.other else "levels not known from training"
            notes.append(f"Column {self.name}: {cells} of {len(texts)} cells hold {what} ({listing(new)}): {fate}.")
        gone = sum(text is None for text in texts)
        if gone and not self.marks:
            notes.append(
                f"Column {self.name}: {gone} of {len(texts)} cells are missing, though none was in training: {fate}."
            )

    def to_json(self) -> dict[str, Any]:
        """The fitted column as plain data for JSON."""
        kept = {"levels": list(self.levels), "other": self.other, "marks": self.marks}
        return {"kind": "category", "name": self.name, **kept}

    @classmethod
    def from_json(cls, data: Any) -> CategoryColumn:
        """The inverse of `to_json`."""
        kept = {"levels": schema.different(schema.text), "other": schema.flag, "marks": schema.flag}
        got = schema.fields(data, "category column", kind=schema.one_of("category"), name=schema.text, **kept)
        column = cls(got["name"], tuple(got["levels"]), got["other"], got["marks"])
        if not column.names or OTHER in column.levels:
            raise TableError(f"Column {column.name}: the stored levels cannot be: {listing(column.levels)}")
        return column
