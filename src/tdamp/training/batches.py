"""The data on their way to the device: chosen columns, centred, padded rows, chunk by chunk, in a random order."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import numpy as np
from jax import Array
from jax.dtypes import canonicalize_dtype
from jax.sharding import Mesh

from .data import Data
from .devices import on_each, whole
from .stored import Stored

ROW_BUCKET = 64
SMALL = 4096
"""Up to this many rows are padded to ROW_BUCKET times a power of two: neighbouring problems share one compilation."""
COARSE = 8
"""Steps between two powers of two, where many rows are padded too: clients of a federation are many, and unequal."""

Chunk = tuple[Array, Array, Array, int]


class Feed:
    """Rows of some columns, `centre` (theirs) taken off. What fits one chunk is put on the device once and stays."""

    def __init__(
        self,
        data: Data | Stored,
        columns: np.ndarray,
        centre: np.ndarray,
        chunk_rows: int | None,
        alike: bool = False,
        mesh: Mesh | None = None,
    ) -> None:
        """`alike` pads large numbers of rows too; every device of a `mesh` has all rows of a chunk."""
        self.data, self.columns, self.centre, self.alike, self.mesh = data, columns, centre, alike, mesh
        rows = len(data.x)
        self.size = min(chunk_rows or rows, rows)
        self.resident = self._put(slice(0, rows)) if self.size == rows else None

    @property
    def n_chunks(self) -> int:
        """Chunks in an epoch."""
        return -(-len(self.data.x) // self.size)

    def chunks(self, rng: np.random.Generator) -> Iterator[Chunk]:
        """x, y, weight and the number of real rows of each chunk, in random order."""
        if self.resident is not None:
            yield self.resident
            return
        starts = range(0, len(self.data.x), self.size)
        for i in rng.permutation(len(starts)):
            yield self._put(slice(starts[i], starts[i] + self.size))

    def shapes(self, n_columns: int) -> tuple[jax.ShapeDtypeStruct, ...]:
        """Shapes and types of a chunk's x, y and weight, were there so many columns."""
        x, y, weight = (
            jax.ShapeDtypeStruct((self._padded, *a.shape[1:]), canonicalize_dtype(a.dtype)) for a in self.data
        )
        shapes = x.update(shape=(self._padded, n_columns)), y, weight
        return shapes if self.mesh is None else tuple(a.update(sharding=whole(self.mesh)) for a in shapes)

    @property
    def _padded(self) -> int:
        return padded_rows(self.size) if self.size <= SMALL or self.alike else self.size

    def _put(self, rows: slice) -> Chunk:
        x, y, weight = (a[rows] for a in self.data)
        if not np.array_equal(self.columns, np.arange(x.shape[1])):
            x = x[:, self.columns]
        x = x - self.centre
        n, size = len(x), self._padded
        if size > n:
            x, y, weight = (np.concatenate([a, np.zeros((size - n, *a.shape[1:]), a.dtype)]) for a in (x, y, weight))
        put = jax.device_put((x, y, weight)) if self.mesh is None else on_each(self.mesh, (x, y, weight))
        return *put, n


def padded_rows(rows: int) -> int:
    """ROW_BUCKET times the power of two that holds so many rows; above SMALL the next of COARSE steps up to it."""
    power = ROW_BUCKET * (1 << max(0, -(-rows // ROW_BUCKET) - 1).bit_length())
    return power if rows <= SMALL else -(-rows // (power // (2 * COARSE))) * (power // (2 * COARSE))


def shuffle(rng: np.random.Generator, rows: int, n_here: int, batch_size: int) -> tuple[np.ndarray, np.ndarray]:
    """A random order of the first `n_here` rows in minibatches, (steps, size), and which places hold a row."""
    size = min(batch_size, rows)
    steps = -(-rows // size)
    order = np.zeros(steps * size, np.int32)
    order[:n_here] = rng.permutation(n_here)
    present = np.arange(steps * size) < n_here
    return order.reshape(steps, size), present.reshape(steps, size)
