"""A stored encoder: fitted on a training table, it turns every later table into the same matrix columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import schema
from .category import CategoryColumn
from .columns import DateColumn, NumberColumn
from .errors import TableError, listing
from .kinds import reader_of
from .readers import NumberReader
from .table import Table, check_names, tidy
from .target import TASKS, Target

Column = NumberColumn | DateColumn | CategoryColumn
_KINDS: dict[str, type[Column]] = {"number": NumberColumn, "date": DateColumn, "category": CategoryColumn}
_FORMAT, _VERSION = "tdamp table encoder", 1


class Encoder:
    """Columns of a table to columns of a matrix, and the target to y; stored as JSON.

    `notes` are sentences about the training table, `last_notes` about the last table of `transform`.
    """

    def __init__(self, columns: Sequence[Column], target: Target, ignored: Sequence[str], notes: Sequence[str]) -> None:
        """Put fitted parts together; callers use `fit` or `from_json`."""
        self.columns, self.ignored = tuple(columns), tuple(ignored)
        self.notes, self.last_notes = list(notes), list[str]()
        self._target = target
        self.feature_names = _distinct([name for column in self.columns for name in column.names])
        sizes = [len(column.names) for column in self.columns]
        self.groups: np.ndarray = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    @classmethod
    def fit(
        cls,
        frame: Any,
        target: str | Sequence[str],
        task: str = "auto",
        drop: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> Encoder:
        """Learn kinds, levels and medians from the rows whose target is there.

        `drop` are columns to leave out, `categories` columns whose numbers (or dates) are only names.
        """
        if task not in TASKS:
            raise TableError(f"The task is 'auto', 'regression' or 'classification', not {task!r}")
        table = Table(frame)
        targets, dropped, named = (_names(names) for names in (target, drop, categories))
        table.need([*targets, *dropped, *named])
        if not targets:
            raise TableError(f"Name a target column, one of {listing(table.names)}")
        check_names(targets)
        if set(targets) & {*dropped, *named}:
            raise TableError(f"The target {listing(targets)} cannot be dropped or be one of the categories")
        notes: list[str] = []
        table = _with_target(table, targets, notes)
        goal = Target.fit(table, targets, task, notes)
        columns = [
            column
            for name in table.names
            if name not in targets and name not in dropped
            for column in [_column(table, name, name in named, notes)]
            if column is not None
        ]
        if not columns:
            raise TableError(" ".join(["No column is left to learn from.", *notes]))
        used = {column.name for column in columns} | set(targets)
        return cls(columns, goal, [name for name in table.names if name not in used], notes)

    def transform(self, frame: Any) -> np.ndarray:
        """float64 (rows, columns) without NaN; what was unusual is in `last_notes`."""
        table, notes = Table(frame), list[str]()
        table.need(column.name for column in self.columns)
        columns = [column.encode(table.cells(column.name), notes) for column in self.columns]
        known = {*(column.name for column in self.columns), *self.target_names, *self.ignored}
        extra = [name for name in table.names if name not in known]
        if extra:
            notes.append(f"Columns not known from training are ignored: {listing(extra)}.")
        self.last_notes = notes
        return np.concatenate(columns, axis=1)

    def target(self, frame: Any) -> np.ndarray:
        """y: float64 (rows,), float64 (rows, targets), or class labels (rows,) as int or str."""
        return self._target.read(Table(frame))

    def usable_rows(self, frame: Any) -> np.ndarray:
        """Mask of the rows whose target is there."""
        return _there(Table(frame), self.target_names)

    def pairs(self, frame: Any) -> tuple[np.ndarray, np.ndarray]:
        """x and y of the usable rows."""
        table = Table(frame)
        rows = table.rows(_there(table, self.target_names)).frame
        return self.transform(rows), self.target(rows)

    @property
    def task(self) -> str:
        """regression or classification."""
        return self._target.task

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the target columns."""
        return self._target.names

    @property
    def classes(self) -> tuple[int, ...] | tuple[str, ...]:
        """The labels in sorted order; empty for a regression."""
        return self._target.classes

    def to_json(self) -> dict[str, Any]:
        """The encoder as plain data for JSON."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "columns": [column.to_json() for column in self.columns],
            "target": self._target.to_json(),
            "ignored": list(self.ignored),
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: Any) -> Encoder:
        """The inverse of `to_json`; TableError when the data are not what it wrote."""
        got = schema.fields(
            data,
            "encoder",
            format=schema.one_of(_FORMAT),
            version=lambda value: schema.number(value) and value == _VERSION,
            columns=schema.many(lambda value: isinstance(value, dict), at_least=1),
            target=schema.anything,
            ignored=schema.different(schema.text),
            notes=schema.many(schema.text),
        )
        for part in got["columns"]:
            if not schema.one_of(*_KINDS)(part.get("kind")):
                raise TableError(f"encoder: a column of unknown kind {str(part.get('kind'))[:80]!r}")
        columns = [_KINDS[part["kind"]].from_json(part) for part in got["columns"]]
        target = Target.from_json(got["target"])
        check_names([*(column.name for column in columns), *target.names, *got["ignored"]])
        return cls(columns, target, got["ignored"], got["notes"])


def _names(names: str | Sequence[str]) -> list[str]:
    return [tidy(name) for name in ([names] if isinstance(names, str) else names)]


def _there(table: Table, targets: Sequence[str]) -> np.ndarray:
    table.need(targets)
    gone = np.zeros(len(table), bool)
    for name in targets:
        gone |= table.cells(name).missing
    return ~gone


def _with_target(table: Table, targets: Sequence[str], notes: list[str]) -> Table:
    if not len(table):
        raise TableError("The table has no rows: there is nothing to learn from")
    there = _there(table, targets)
    if not there.any():
        raise TableError(f"The target {listing(targets)} is missing in every row: there is nothing to learn")
    if not there.all():
        notes.append(f"Target {listing(targets)}: missing in {int((~there).sum())} of {len(there)} rows, left out.")
    return table.rows(there)


def _column(table: Table, name: str, named: bool, notes: list[str]) -> Column | None:
    cells = table.cells(name)
    if cells.missing.all():
        notes.append(f"Column {name}: every cell is missing; left out.")
        return None
    reader = None if named else reader_of(cells)
    if reader is None:
        return CategoryColumn.fit(cells, notes)
    if isinstance(reader, NumberReader):
        return NumberColumn.fit(cells, reader, notes)
    return DateColumn.fit(cells, reader, notes)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """A level may be named so that two matrix columns would be called the same: later ones get a number."""
    seen: Counter[str] = Counter()
    taken, result = set(names), []
    for name in names:
        seen[name] += 1
        while seen[name] > 1 and f"{name} ({seen[name]})" in taken:
            seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(result)
