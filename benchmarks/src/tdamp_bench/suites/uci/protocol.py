"""Tables, random splits and widths, as in "Probabilistic backpropagation" (Hernández-Lobato and Adams, 2015).

The splits are those that were published with "Dropout as a Bayesian approximation" (Gal and Ghahramani, 2016): one
`numpy.random.RandomState(1)` for each table, whose `choice` without replacement orders the rows of each split, and the
first round(0.9 rows) of them are for training.

Boston housing has a known ethical problem: one of its columns is a racial variable, built by its authors on the
assumption that segregation raises house prices. It is here only because the published figures are on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tdamp.datasets import Table, load_boston, load_uci

from .tasks import Task

TRAINING_SHARE = 0.9
SEED = 1
QUICK_ROWS = 60, 12
"""Training and test rows of a quick run."""


@dataclass(frozen=True)
class Set:
    """A table of the protocol: how it is called in print, its splits, and the units of the hidden layer."""

    title: str
    splits: int = 20
    hidden: int = 50


SETS = {
    "boston": Set("Boston"),
    "concrete": Set("Concrete"),
    "power_plant": Set("Power plant"),
    "protein": Set("Protein", splits=5, hidden=100),
    "wine_red": Set("Wine (red)"),
    "yacht": Set("Yacht"),
}
QUICK_SETS = ("boston", "yacht")


def load(name: str) -> Table:
    """The table of this name."""
    return load_boston() if name == "boston" else load_uci(name)


def orders(rows: int, splits: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Row numbers to train on and to test on, split by split; the first splits do not depend on how many there are."""
    state = np.random.RandomState(SEED)
    for _ in range(splits):
        order = state.choice(range(rows), rows, replace=False)
        cut = round(TRAINING_SHARE * rows)
        yield order[:cut], order[cut:]


def tasks(table: Table, hidden: int, splits: int, quick: bool = False) -> Iterator[tuple[Task, np.ndarray]]:
    """Each split, and its test targets apart from it."""
    for split, (train, test) in enumerate(orders(len(table.x), splits)):
        if quick:
            train, test = train[: QUICK_ROWS[0]], test[: QUICK_ROWS[1]]
        yield Task(split, hidden, table.x[train], table.y[train], table.x[test]), table.y[test]
