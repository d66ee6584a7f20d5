"""The protocol of a source: pieces of a table, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """Some rows as they come: arrays or frames, not yet checked."""

    x: Any  # (rows, inputs)
    y: Any
    weight: Any  # None: one for each row
    name: str  # for messages


class Source:
    """Rows that need not fit in memory, passed to `fit` in place of X and y. They are read once.

    `spill_dir` is the folder whose disk takes the rows while the fit lasts; None: that of temporary files.
    """

    n_rows: int | None = None  # where it is known beforehand

    def __init__(self, spill_dir: str | Path | None = None) -> None:
        self.spill_dir = spill_dir

    def pieces(self) -> Iterator[Piece]:
        """Iterate over all rows, each once."""
        raise NotImplementedError
