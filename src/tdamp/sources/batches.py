"""Batches from an iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from .source import Piece, Source


class Batches(Source):
    """Batches (X, y) or (X, y, weight), arrays or frames: an iterable of them, or a function that makes one.

    An iterator can be gone through once; a function lets the same source be fitted again. `n_rows` is for the progress
    bar alone.
    """

    def __init__(
        self,
        batches: Iterable[Any] | Callable[[], Iterable[Any]],
        *,
        n_rows: int | None = None,
        spill_dir: str | Path | None = None,
    ) -> None:
        super().__init__(spill_dir)
        self.batches, self.n_rows = batches, n_rows

    def pieces(self) -> Iterator[Piece]:
        """Iterate over the batches, counted from 0."""
        for i, batch in enumerate(self.batches() if callable(self.batches) else self.batches):
            if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
                raise ValueError(
                    f"batch {i} (counted from 0) is a {type(batch).__name__}: expected (X, y) or (X, y, weight)"
                )
            yield Piece(batch[0], batch[1], batch[2] if len(batch) == 3 else None, f"batch {i} (counted from 0)")
