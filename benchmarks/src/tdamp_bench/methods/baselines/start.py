"""What both Adams share: the first weights and the order of the rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

Params = list[tuple[np.ndarray, np.ndarray]]


def he_init(widths: tuple[int, ...], seed: int) -> Params:
    """Weights N(0, 2 / inputs) of shape (inputs, outputs), zero biases, float32."""
    rng = np.random.default_rng(seed)
    return [
        ((rng.standard_normal((n_in, n_out)) * np.sqrt(2 / n_in)).astype(np.float32), np.zeros(n_out, np.float32))
        for n_in, n_out in pairwise(widths)
    ]


class Orders:
    """A fresh permutation of the rows for every epoch."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rows = rows
        self._rng = np.random.default_rng((seed, rows))

    def __next__(self) -> np.ndarray:
        return self._rng.permutation(self.rows)

    def __iter__(self) -> Orders:
        return self


def minibatches(order: np.ndarray, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """The order as (minibatches, batch) row numbers, with a mask that is 0 on the padding of a short last one."""
    batch = min(batch, len(order))
    count = -(-len(order) // batch)
    padding = count * batch - len(order)
    rows = np.concatenate([order, np.zeros(padding, order.dtype)]).reshape(count, batch).astype(np.int32)
    present = (np.arange(count * batch) < len(order)).astype(np.float32).reshape(count, batch)
    return rows, present
