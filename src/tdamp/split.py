"""Which rows are kept from a training, to judge it by: of equal rows all or none.

A weight of four counts as four copies of its row, and tables have copies of their own. With one copy among the training
rows the others would be asked for what was told. So kinds of rows are drawn, not rows: in the order of a hash of their
numbers, which is random and the same however the rows come. Oracle: enumeration of small tables.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pandas as pd
from pandas.util import hash_array, hash_pandas_object

PIECE = 2**20
"""Numbers that are hashed at a time."""


def keys_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A hash of each row, (rows,) of 64 bits: equal rows have the same. Of n others any two do with probability
    n**2 / 2**65 at most, and are then kept together, which does no harm."""
    step = max(1, PIECE // max(1, prod(x.shape[1:]) + prod(y.shape[1:])))
    found = []
    for start in range(0, len(x), step):
        here = slice(start, start + step)
        rows = np.column_stack([x[here], y[here]]) + 0.0  # -0.0 and 0.0 are equal
        found.append(hash_pandas_object(pd.DataFrame(rows), index=False).to_numpy())
    return np.concatenate(found)


def salt_of(rng: np.random.Generator) -> np.uint64:
    """What makes one random order of kinds differ from another."""
    return rng.integers(2**64, dtype=np.uint64)


def ranks_of(keys: np.ndarray, salt: np.uint64) -> np.ndarray:
    """A number for each key, whose order is random; different keys have different ones."""
    return hash_array(keys ^ salt)


def drawn_rows(
    x: np.ndarray, y: np.ndarray, share: float, seed: int, *, classes: bool, weight: np.ndarray | None = None
) -> np.ndarray:
    """A mask of random rows, `share` of all weight as nearly as kinds of rows allow; with `classes`, of each class.

    One kind at least (of each class) is not drawn. None may be, where all are too heavy.
    """
    labels = np.unique(y, return_inverse=True)[1] if classes else np.zeros(len(y), int)
    weight = np.ones(len(y)) if weight is None else weight
    ranks = ranks_of(keys_of(x, labels if classes else y), salt_of(np.random.default_rng(seed)))
    _, first, kind = np.unique(ranks, return_index=True, return_inverse=True)  # kinds in random order
    sizes, label = np.bincount(kind, weight), labels[first]
    place, stays = np.empty(len(sizes)), np.zeros(len(sizes), bool)
    for one in np.unique(label):
        own = np.flatnonzero(label == one)
        place[own] = (np.cumsum(sizes[own]) - sizes[own] / 2) / sizes[own].sum()
        stays[own[-1]] = True
    order = np.argsort(place, kind="stable")
    order = order[~stays[order]]
    drawn = np.zeros(len(sizes), bool)
    drawn[order] = filling(sizes[order], share * weight.sum())
    return drawn[kind]


def filling(sizes: np.ndarray, room: float) -> np.ndarray:
    """Which to take, one after another: those that bring the sum nearer to `room`."""
    taken = np.zeros(len(sizes), bool)
    for place, size in enumerate(sizes.tolist()):
        if size / 2 <= room:
            taken[place], room = True, room - size
    return taken


class Sample:
    """Kinds of rows that may be kept from a training, while the rows go by: the `most` that come first by their ranks.

    One that is among them in the end was so from its first row on, so its weight is that of all its rows.
    """

    def __init__(self, most: int, salt: np.uint64) -> None:
        self.most, self.salt = most, salt
        self.ranks: np.ndarray = np.zeros(0, np.uint64)
        self.sizes: np.ndarray = np.zeros(0)
        self.weight = 0.0

    def add(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Some more rows."""
        ranks = np.concatenate([self.ranks, ranks_of(keys_of(x, y), self.salt)])
        ranks, kind = np.unique(ranks, return_inverse=True)
        self.ranks = ranks[: self.most]
        self.sizes = np.bincount(kind, np.concatenate([self.sizes, weight]))[: self.most]
        self.weight += float(weight.sum())

    def drawn(self, share: float) -> Sample:
        """Those to keep from training, `share` of all weight as nearly as they allow; one at least is left over."""
        found = Sample(self.most, self.salt)
        taken = filling(self.sizes[:-1], share * self.weight)
        found.ranks, found.sizes = self.ranks[:-1][taken], self.sizes[:-1][taken]
        return found

    def has(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Which rows are of these kinds."""
        if not len(self.ranks):
            return np.zeros(len(x), bool)
        return np.isin(ranks_of(keys_of(x, y), self.salt), self.ranks)
