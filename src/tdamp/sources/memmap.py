"""NumPy's own files, and memory maps that are open already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ..training.stored import Rows
from .source import Piece, Source

PIECE = 2**20
"""Numbers of x that are read at a time."""


class MemMap(Source):
    """Arrays x, y and perhaps weights on disk: paths of .npy files, or arrays that `np.memmap` or `np.load` has opened.

    Files given by their paths are read piece by piece. The pages of an opened map count as memory of the process once
    they were read, until the system wants them back.
    """

    def __init__(self, x: Any, y: Any, weight: Any = None, *, spill_dir: str | Path | None = None) -> None:
        super().__init__(spill_dir)
        self.x, self.y = _open(x), _open(y)
        self.weight = None if weight is None else _open(weight)
        lengths = {len(a) for a in (self.x, self.y, self.weight) if a is not None}
        if len(lengths) > 1:
            raise ValueError(f"x, y and weight have {sorted(lengths)} rows: they must agree")
        self.n_rows = len(self.x)

    def pieces(self) -> Iterator[Piece]:
        """Iterate over slices of the rows."""
        step = max(1, PIECE // max(1, int(np.prod(self.x.shape[1:]))))
        for start in range(0, len(self.x), step):
            rows = slice(start, start + step)
            x, y, weight = (None if a is None else a[rows] for a in (self.x, self.y, self.weight))
            yield Piece(x, y, weight, f"rows {start} to {min(start + step, len(self.x)) - 1}")


def _open(array_or_path: Any) -> Any:
    """The array itself, or the rows of the file at this path."""
    if not isinstance(array_or_path, str | Path):
        return array_or_path
    path = Path(array_or_path)
    with open(path, "rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, by_columns, dtype = read(file)
        except ValueError as error:
            raise ValueError(f"{path}: not a .npy file that can be read: {error}") from error
        offset = file.tell()
    if dtype.hasobject:
        raise ValueError(f"{path}: holds Python objects: save numbers or plain text, such as x.astype(np.float32)")
    if by_columns and len(shape) > 1:
        raise ValueError(f"{path}: is stored column by column: save np.ascontiguousarray(x) instead")
    if not shape:
        raise ValueError(f"{path}: holds a single number, not rows")
    return Rows(path, dtype, shape, offset)
