"""The target of a table: numbers, or one of several classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import schema
from .category import Lookup, plain_form
from .cells import Cells
from .errors import TableError, listing
from .kinds import reader_of
from .numerals import Notation
from .readers import DateReader, NumberReader
from .table import Table

Task = Literal["regression", "classification"]
TASKS: dict[str, bool | None] = {"auto": None, "regression": False, "classification": True}
"""Whether the target of each task is one of classes; None where the target decides."""
MAX_WHOLE_CLASSES = 10  # whole numbers with more different values than this are quantities
CLASS_SHARE = 0.05  # and so are those with at least this share of different values, unless they are only two
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_FREE_TEXT_ROWS = 20  # in a table this long, texts that mostly differ are no classes


@dataclass(frozen=True)
class Target:
    """The target columns; `readers` for the numbers of a regression, `classes` for a classification."""

    names: tuple[str, ...]
    task: Task
    readers: tuple[NumberReader, ...] = ()
    classes: tuple[int, ...] | tuple[str, ...] = ()

    @classmethod
    def fit(cls, table: Table, names: Sequence[str], task: str, notes: list[str]) -> Target:
        """Learn the target from rows that have it."""
        columns = [table.cells(name) for name in names]
        of_classes = TASKS[task]
        if of_classes is None:
            of_classes = len(columns) == 1 and _is_classes(columns[0], notes)
            if len(columns) > 1:
                notes.append(f"Targets {listing(names)}: several columns, so this is a regression.")
        if of_classes:
            if len(columns) > 1:
                raise TableError(f"Classification has one target column, not {len(columns)} ({listing(names)})")
            return cls(tuple(names), "classification", classes=_classes(columns[0]))
        return cls(tuple(names), "regression", readers=tuple(_number_reader(cells) for cells in columns))

    def read(self, table: Table) -> np.ndarray:
        """y of every row: float64 (rows,) or (rows, targets), or class labels (rows,)."""
        table.need(self.names)
        columns = [table.cells(name) for name in self.names]
        for cells in columns:
            gone = cells.missing
            if gone.any():
                raise TableError(
                    f"{cells.place(int(gone.argmax()))}: the target is missing in {int(gone.sum())} rows: "
                    "leave them out with usable_rows"
                )
        if self.classes:
            return self._labels(columns[0])
        y = [reader.read(cells) for reader, cells in zip(self.readers, columns, strict=True)]
        return y[0].copy() if len(y) == 1 else np.stack(y, axis=1)

    def _labels(self, cells: Cells) -> np.ndarray:
        lookup = Lookup([str(label) for label in self.classes])
        texts = cells.texts()
        codes = {text: lookup.find(text) for text in set(texts)}
        for row, text in enumerate(texts):
            if codes[text] is None:
                raise TableError(
                    f"{cells.place(row)}: the class {text!r} was not among those of training, {listing(self.classes)}"
                )
        return np.array(self.classes)[np.array([codes[text] for text in texts], np.int64)]

    def to_json(self) -> dict[str, Any]:
        """The target as plain data for JSON."""
        readers = [{**reader.notation._asdict(), "boolean": reader.boolean} for reader in self.readers]
        return {"names": list(self.names), "task": self.task, "readers": readers, "classes": list(self.classes)}

    @classmethod
    def from_json(cls, data: Any) -> Target:
        """The inverse of `to_json`."""
        got = schema.fields(
            data,
            "target",
            names=schema.different(schema.text, at_least=1),
            task=schema.one_of("regression", "classification"),
            readers=schema.many(schema.anything),
            classes=lambda value: schema.different(schema.text)(value) or schema.different(_is_whole)(value),
        )
        how = {"decimal": schema.one_of(".", ","), "grouped": schema.flag, "boolean": schema.flag}
        parts = [schema.fields(part, "target reader", **how) for part in got["readers"]]
        readers = tuple(NumberReader(Notation(part["decimal"], part["grouped"]), part["boolean"]) for part in parts)
        classes, n_names = tuple(got["classes"]), len(got["names"])
        regression = not TASKS[got["task"]]
        if (len(readers), len(classes) > 1, n_names == 1 or regression) != (n_names * regression, not regression, True):
            raise TableError("The stored target does not go with its task: the file was changed or damaged")
        return cls(tuple(got["names"]), got["task"], readers, classes)


def _is_whole(value: Any) -> bool:
    return schema.number(value) and isinstance(value, int) and abs(value) < 2**63


def _is_classes(cells: Cells, notes: list[str]) -> bool:
    """Whether a target of unstated task is one of classes; the reason goes to the notes."""
    reader = reader_of(cells)
    if isinstance(reader, DateReader):
        raise _date_target(cells)
    start, rows = f"Target {cells.name}: ", len(cells.values)
    if reader is None:
        n_texts = len(set(cells.texts()))
        if rows >= _FREE_TEXT_ROWS and n_texts * 2 > rows:
            raise TableError(
                f"Target {cells.name}: {n_texts} different texts in {rows} rows are too many for classes: choose "
                "another target, or ask for the task classification if that is meant"
            )
        notes.append(f"{start}{n_texts} different texts, so this is a classification.")
        return True
    if reader.boolean:
        notes.append(f"{start}truth values, so this is a classification.")
        return True
    values = np.unique(reader.read(cells))
    n_values, whole = len(values), bool((values == np.floor(values)).all())
    classes = whole and (n_values == 2 or (n_values <= MAX_WHOLE_CLASSES and n_values < CLASS_SHARE * rows))
    if not whole:
        notes.append(f"{start}numbers with decimals, so this is a regression.")
    elif n_values > 1:
        this, that = ("classification", "regression") if classes else ("regression", "classification")
        what = f"{n_values} different whole numbers in {rows} rows"
        notes.append(f"{start}{what}, so this is a {this}; ask for the task {that} if that is meant.")
    return classes


def _classes(cells: Cells) -> tuple[int, ...] | tuple[str, ...]:
    texts = sorted(set(cells.texts()))
    plain = {plain_form(text) for text in texts}
    labels: tuple[int, ...] | tuple[str, ...] = tuple(texts)
    if all(_WHOLE.fullmatch(text) and abs(int(text)) < 2**63 for text in plain):
        labels = tuple(sorted(int(text) for text in plain))
    if len(labels) < 2:
        raise TableError(f"Target {cells.name}: every row has the class {texts[0]!r}: there is nothing to tell apart")
    return labels


def _number_reader(cells: Cells) -> NumberReader:
    reader = reader_of(cells)
    if isinstance(reader, DateReader):
        raise _date_target(cells)
    reader = reader or NumberReader()  # for categories: raises at the first that is no number
    values = reader.read(cells)
    if (values == values[0]).all():
        raise TableError(f"Target {cells.name}: every row has the value {values[0]:.6g}: there is nothing to learn")
    return reader


def _date_target(cells: Cells) -> TableError:
    return TableError(f"Target {cells.name}: dates cannot be predicted: turn them into a number of days first")
