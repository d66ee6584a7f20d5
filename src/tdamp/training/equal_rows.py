"""Which rows are held out of a training, to judge it by: of equal rows all or none.

A weight of four counts as four copies of its row, and tables have copies of their own. With one copy among the training
rows the others would be predicted from memory. So kinds of rows are drawn, not rows: in the order of a hash of their
numbers, which is random and the same however the rows are ordered. Where inputs repeat by design (`repeats_of`)
equal rows are not copies but observations, and each is a kind of its own. Oracle: enumeration of small tables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from pandas.util import hash_array

from .repeats import keys_of, repeats_by_design, repeats_of

MOST_LEARNED = 2**16
"""Keys of rows that a network keeps, to know them again: half a megabyte."""


def kinds_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What is drawn or left together, by 64 bits for each row: `keys_of`, each with its number where inputs repeat by
    design: the first of some equal rows, the second, and so on (or the first copies of one, the second, and so on)."""
    keys, repeats = keys_of(x, y), repeats_of(x, y)
    if not repeats.by_design:
        return keys
    order = np.argsort(keys, kind="stable")
    _, first, count = np.unique(keys[order], return_index=True, return_counts=True)
    number = np.empty(len(keys), np.uint64)
    number[order] = (np.arange(len(keys)) - np.repeat(first, count)) // repeats.copies
    return hash_array(keys ^ hash_array(number))


def first_of_kinds(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The place of each kind's first row, and for each row the number of its kind in that list."""
    repeats = repeats_of(x, y)
    if repeats.by_design and repeats.copies == 1:
        return np.arange(len(x)), np.arange(len(x))
    rows = kinds_of(x, y) if repeats.by_design else np.column_stack([x, y])
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, kind.ravel()


def as_evidence(kinds: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights that sum to the number of kinds of equal weight which would tell as much (Kish): neither heavy rows nor
    copies are observations of their own."""
    total = np.bincount(np.unique(kinds, return_inverse=True)[1], weight)
    return weight * (total.sum() / np.square(total).sum())


class Learned(NamedTuple):
    """Rows that a network has learned from: the MOST_LEARNED smallest of their keys. Of a row whose key is at most
    `limit` it is known whether it is among them."""

    keys: np.ndarray
    limit: np.uint64

    def of_new(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Which rows are known to be new."""
        keys = keys_of(x, y)
        return (keys <= self.limit) & ~np.isin(keys, self.keys)


def learned(before: Learned | None, x: np.ndarray, y: np.ndarray) -> Learned:
    """The keys of the rows learned from before, and of these."""
    old, limit = (np.zeros(0, np.uint64), np.uint64(2**64 - 1)) if before is None else before
    keys = np.union1d(old, keys_of(x, y))
    keys = keys[keys <= limit]
    if len(keys) > MOST_LEARNED:
        keys, limit = keys[:MOST_LEARNED], keys[MOST_LEARNED - 1]
    return Learned(keys, limit)


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
    ranks = ranks_of(kinds_of(x, labels if classes else y), salt_of(np.random.default_rng(seed)))
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

    One that is among them in the end was so from its first row on, so its weight is that of all its rows. If the first
    rows to go by repeat by design, rows are drawn instead: those that come first when they go by in random order.
    """

    def __init__(self, most: int, salt: np.uint64) -> None:
        self.most, self.salt = most, salt
        self.by_design: bool | None = None  # not known before there are rows
        self.n_rows = 0
        self.ranks: np.ndarray = np.zeros(0, np.uint64)
        self.sizes: np.ndarray = np.zeros(0)
        self.weight = 0.0

    def add(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Count some more rows."""
        self.n_rows += len(x)
        if self.by_design is None:
            self.by_design = repeats_by_design(x, y)
        ranks = np.concatenate([self.ranks, ranks_of(keys_of(x, y), self.salt)])
        ranks, kind = np.unique(ranks, return_inverse=True)
        self.ranks = ranks[: self.most]
        self.sizes = np.bincount(kind, np.concatenate([self.sizes, weight]))[: self.most]
        self.weight += float(weight.sum())

    def drawn(self, share: float) -> Sample:
        """The rows to keep from training, `share` of all weight as nearly as they allow; one at least is left over."""
        sample = Sample(self.most, self.salt)
        if self.by_design:
            sample.by_design, sample.n_rows = True, min(round(share * self.n_rows), self.n_rows - 1)
            return sample
        taken = filling(self.sizes[:-1], share * self.weight)
        sample.ranks, sample.sizes = self.ranks[:-1][taken], self.sizes[:-1][taken]
        return sample

    def has(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Which rows are of these kinds; all rows must go by once."""
        if self.by_design:
            taken = min(self.n_rows, len(x))
            self.n_rows -= taken
            return np.arange(len(x)) < taken
        if not len(self.ranks):
            return np.zeros(len(x), bool)
        return np.isin(ranks_of(keys_of(x, y), self.salt), self.ranks)
