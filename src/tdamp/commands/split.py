"""Test rows: a part of the table that training never sees."""

from __future__ import annotations

import numpy as np

FEW = 30
"""Below this many test rows their scores are little more than a hint."""


def drawn_rows(y: np.ndarray, fraction: float, seed: int, classes: bool) -> np.ndarray:
    """A mask of round(fraction * rows) random rows; with `classes`, about this fraction of each class.

    Every class keeps a row to train on: each row has its rank among the rows of its class, in random order, and the
    rows that come first by (rank + 1/2) / (size of the class) are taken.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    label = np.unique(y, return_inverse=True)[1][order] if classes else np.zeros(len(y), int)
    place = np.empty(len(y))
    for one in np.unique(label):
        rows = np.flatnonzero(label == one)
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        place[rows[-1]] = 1
    mask = np.zeros(len(y), bool)
    mask[order[np.argsort(place, kind="stable")[: round(fraction * len(y))]]] = True
    return mask
