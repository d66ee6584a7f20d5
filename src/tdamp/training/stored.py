"""Rows that lie in files and are read slice by slice: no more of them than a slice is in memory.

They are read, not mapped: a mapped page that was looked at counts as memory of the process until the system wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..engine.state import Scales
from .data import Data

PIECE = 2**20
"""Numbers that are read at a time when all are read."""


class Rows:
    """An array in a file, row after row. `rows[a:b]` reads a slice; the file must stay as it is."""

    def __init__(self, path: Path, dtype: np.dtype, shape: tuple[int, ...], offset: int = 0) -> None:
        """`offset` is the position of the first number in the file, in bytes."""
        self.path, self.dtype, self.shape, self.offset = path, np.dtype(dtype), shape, offset

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"step={step}: rows in files are read one after another")
        count = max(stop - start, 0)
        numbers = np.fromfile(self.path, self.dtype, count * self._numbers, offset=self._place(start))
        return numbers.reshape(count, *self.shape[1:])

    def after(self, first: int) -> Rows:
        """All but the first rows."""
        return Rows(self.path, self.dtype, (len(self) - first, *self.shape[1:]), self._place(first))

    def sum(self) -> float:
        """Sum of all numbers, piece by piece, in float64."""
        step = max(1, PIECE // max(1, self._numbers))
        return sum(float(self[start : start + step].sum(dtype=np.float64)) for start in range(0, len(self), step))

    @property
    def _numbers(self) -> int:
        return prod(self.shape[1:])

    def _place(self, row: int) -> int:
        return self.offset + row * self._numbers * self.dtype.itemsize


@dataclass(frozen=True)
class Stored:
    """Checked training data in files (`data.Data` holds them in memory), and the scales that a start needs."""

    x: Rows
    y: Rows
    weight: Rows
    scales: Scales

    def __iter__(self) -> Iterator[Rows]:
        return iter((self.x, self.y, self.weight))


class Streamed(NamedTuple):
    """Rows in the engine's units and in random order: `stored` to train on, and `held` in memory, held out."""

    stored: Stored
    some: Data  # of the stored rows, in memory: they stand for all
    held: Data | None

    @property
    def n_rows(self) -> int:
        """Rows of the source, held out or not."""
        return len(self.stored.x) + (0 if self.held is None else len(self.held.x))

    def in_memory(self) -> Data:
        """The stored rows, read into memory."""
        return Data(*(rows[:] for rows in self.stored))
