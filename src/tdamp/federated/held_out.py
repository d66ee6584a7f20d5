"""Which of its rows a client keeps from training, to judge posteriors by.

A row is held out where a hash of its numbers, which is random and the same at all clients, falls below a bound that all
share: copies of a row are on one side everywhere, whoever has them, so that no client is scored on what another was
trained on. (A share of each client's own rows would put the bound elsewhere at each.) And about `hold_out` of the
federation's rows are held out however few a client has: of twenty clients with nine rows each, eighteen rows or so,
where a tenth of nine is none. The price is a number of rows that is random, as that of heads. Where a client's inputs
repeat by design its first of some equal rows is a kind, its second another (`equal_rows.kinds_of`).
Not guaranteed: a client must train on something. Where all of its rows (of a class) fall below the bound it keeps one
kind of them, of which other clients may hold out copies. Oracle: enumeration of small federations.
"""

from __future__ import annotations

import numpy as np

from ..training.data import Data
from ..training.equal_rows import kinds_of, ranks_of, salt_of

HELD_OUT = 2**31
"""The number in place of an epoch in the seed that draws the rows held out."""


def split_rows(data: Data, hold_out: float, seed: int) -> tuple[Data, Data | None]:
    """Rows to train on and rows to judge by, None if there are none; `seed` is the federation's."""
    held = _held(data, hold_out, seed) if hold_out else np.zeros(len(data.x), bool)
    if not held.any():
        return data, None
    return Data(*(array[~held] for array in data)), Data(*(array[held] for array in data))


def _held(data: Data, hold_out: float, seed: int) -> np.ndarray:
    ranks = ranks_of(kinds_of(data.x, data.y), salt_of(np.random.default_rng((seed, HELD_OUT))))
    held = ranks < np.uint64(hold_out * 2.0**64)
    labels = data.y if data.y.ndim == 1 else np.zeros(len(data.x), int)  # of a regression all rows are of one class
    for label in np.unique(labels):
        own = labels == label
        if held[own].all():
            held &= ~own | (ranks < ranks[own].max())
    return held
