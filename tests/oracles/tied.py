"""A convolution, a pool or a residual sum as one dense matrix: the same map, written out place by place."""

from __future__ import annotations

import numpy as np


def spread(table: np.ndarray, places: tuple[int, ...], channels: int, kernel: tuple[int, ...], stride: tuple[int, ...]):
    """Dense matrix of a filter's table (taps x channels, outputs), (inputs, outputs), and which row and column of the
    table each entry is (or -1)."""
    outputs = table.shape[1]
    after = tuple((n - k) // s + 1 for n, k, s in zip(places, kernel, stride, strict=True))
    matrix = np.zeros((*places, channels, *after, outputs))
    row = np.full(matrix.shape, -1)
    for place in np.ndindex(after):
        for number, tap in enumerate(np.ndindex(kernel)):
            at = tuple(p * s + t for p, s, t in zip(place, stride, tap, strict=True))
            for n in range(channels):
                for m in range(outputs):
                    matrix[(*at, n, *place, m)] = table[number * channels + n, m]
                    row[(*at, n, *place, m)] = number * channels + n
    shape = (int(np.prod(places)) * channels, int(np.prod(after)) * outputs)
    column = np.broadcast_to(np.arange(outputs), matrix.shape)
    return matrix.reshape(shape), row.reshape(shape), column.reshape(shape), after


def gathered(entries: np.ndarray, row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The sum over all entries of a matrix that are one weight of the table."""
    table = np.zeros(shape)
    np.add.at(table, (row[row >= 0], column[row >= 0]), entries[row >= 0])
    return table


def pooled(places: tuple[int, ...], channels: int, size: int) -> np.ndarray:
    """Matrix of average pooling, (inputs, outputs)."""
    after = tuple(n // size for n in places)
    matrix = np.zeros((*places, channels, *after, channels))
    for place in np.ndindex(after):
        for tap in np.ndindex(*(size,) * len(places)):
            for n in range(channels):
                matrix[(*(p * size + t for p, t in zip(place, tap, strict=True)), n, *place, n)] = size ** -len(places)
    return matrix.reshape(int(np.prod(places)) * channels, -1)
