"""Rows made on the fly: y = f(x) + noise, in a Parquet file that is sorted by its first column.

f(x) = W_2 relu(W_1 x + b_1) has HIDDEN units and variance one about; x is standard normal, its first column in
rising order (that of the normal quantiles), and the noise has the standard deviation NOISE: no prediction's RMSE can be
below it but by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtri

HIDDEN = 16
NOISE = 0.3
CHUNK = 50_000
STREAM, TEST = 2, 3
"""Keep the numbers of the function, the rows and the test rows apart."""


def function(x: np.ndarray) -> np.ndarray:
    """f, the same for every number of rows, (rows,)."""
    rng = np.random.default_rng(x.shape[1])
    first = rng.standard_normal((x.shape[1], HIDDEN)) / np.sqrt(x.shape[1])
    bias, last = 0.5 * rng.standard_normal(HIDDEN), rng.standard_normal(HIDDEN)
    return np.maximum(x @ first + bias, 0) @ last


def chunks(n_rows: int, n_inputs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """x and y, CHUNK rows at a time, in the file's order."""
    rng = np.random.default_rng([STREAM, n_rows])
    for start in range(0, n_rows, CHUNK):
        place = np.arange(start, min(start + CHUNK, n_rows))
        x = rng.standard_normal((len(place), n_inputs)).astype(np.float32)
        x[:, 0] = ndtri((place + 0.5) / n_rows)
        yield x, (function(x) + NOISE * rng.standard_normal(len(x))).astype(np.float32)


def test_rows(n_rows: int, n_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y that are in no file."""
    rng = np.random.default_rng([TEST, n_rows])
    x = rng.standard_normal((n_rows, n_inputs)).astype(np.float32)
    return x, function(x) + NOISE * rng.standard_normal(n_rows)


def write(path: Path, n_rows: int, n_inputs: int) -> None:
    """The Parquet file, with columns x0, x1, ... and y."""
    import pyarrow as arrow
    from pyarrow import parquet

    names = [*(f"x{i}" for i in range(n_inputs)), "y"]
    writer = None
    for x, y in chunks(n_rows, n_inputs):
        batch = arrow.record_batch([arrow.array(np.ascontiguousarray(column)) for column in (*x.T, y)], names=names)
        writer = writer or parquet.ParquetWriter(path, batch.schema)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()
