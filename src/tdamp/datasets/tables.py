"""Tables of numbers: inputs beside a target, and the text formats they come in."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np


class Table(NamedTuple):
    """Inputs (rows, columns) and target (rows,), float64, with the inputs' names."""

    x: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


def delimited(
    raw: bytes, separator: str | None, columns: tuple[str, ...] | None = None
) -> tuple[tuple[str, ...], np.ndarray]:
    """Column names and values of a text table; a separator of None is any run of blanks.

    Without `columns` the first line names them, in quotes or not.
    """
    text = io.StringIO(raw.decode("utf-8-sig"))
    if columns is None:
        columns = tuple(name.strip().strip('"') for name in text.readline().split(separator))
    values = np.loadtxt(text, delimiter=separator, ndmin=2)
    return columns, values


def split(columns: tuple[str, ...], values: np.ndarray, target: str) -> Table:
    """The column `target`, which must be the first or the last, is the target; the others are the inputs."""
    if values.ndim != 2 or values.shape[1] != len(columns) or target not in (columns[0], columns[-1]):
        raise ValueError(
            f"A table with the target {target!r} as first or last column was expected, but the columns are "
            f"{', '.join(columns)} and the values have the shape {values.shape}."
        )
    where = columns.index(target)
    names = tuple(name for name in columns if name != target)
    return Table(np.delete(values, where, axis=1), values[:, where].copy(), names)
