"""A random order of rows that do not fit in memory.

Every row goes to one of BUCKETS files at random; a file that fits in memory is then read and put in a random order, a
larger one is scattered again. Each of the orders of all rows comes out with the same probability, as if they had been
shuffled in memory. Oracle: the same rows come out, and the place of a row does not tell where it came from.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

BUCKETS = 64
MOST_NUMBERS = 2**22
"""Numbers that are shuffled in memory: 32 MB of float64, a few times."""
PIECE = 2**20
"""Numbers of a file that are read to be scattered again."""


def scatter(chunks: Iterable[np.ndarray], folder: Path, rng: np.random.Generator) -> list[Path]:
    """The rows of float64 chunks (rows, width), in new files inside the folder."""
    inside = Path(tempfile.mkdtemp(dir=folder))
    paths = [inside / f"bucket-{number}" for number in range(BUCKETS)]
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, "wb")) for path in paths]
        for chunk in chunks:
            bucket = (BUCKETS * rng.random(len(chunk))).astype(np.int64)  # a draw for each row, however they are cut
            parts = np.split(chunk[np.argsort(bucket, kind="stable")], np.cumsum(np.bincount(bucket, None, BUCKETS)))
            for file, part in zip(files, parts, strict=False):
                file.write(np.ascontiguousarray(part).data)
    return paths


def shuffled(paths: list[Path], width: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """All rows of the files, in random order, in chunks that fit in memory; the files are removed on the way."""
    for path in paths:
        if path.stat().st_size <= 8 * MOST_NUMBERS or path.stat().st_size == 8 * width:
            rows = np.fromfile(path, np.float64).reshape(-1, width)
            path.unlink()
            if len(rows):
                yield rows[rng.permutation(len(rows))]
        else:
            deeper = scatter(_pieces(path, width), path.parent, rng)
            path.unlink()
            yield from shuffled(deeper, width, rng)


def _pieces(path: Path, width: int) -> Iterator[np.ndarray]:
    step = max(1, PIECE // width)
    with open(path, "rb") as file:
        while len(rows := np.fromfile(file, np.float64, step * width)):
            yield rows.reshape(-1, width)
