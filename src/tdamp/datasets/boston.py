"""Boston housing: 506 census tracts, 13 inputs."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from .folder import locate

FILE = "boston.csv"


class Table(NamedTuple):
    """Inputs (rows, columns) and target (rows,), float64, with the inputs' names."""

    x: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]


def load_boston(folder: str | os.PathLike[str] | None = None) -> Table:
    """Read Boston housing from `folder`, else from $TDAMP_DATA, else from `shared/data` beside the checkout.

    This data set has a known ethical problem: its column `b` is a racial variable, built by its authors on the
    assumption that segregation raises house prices. It is kept here only to reproduce the paper; do not use it
    for anything else.
    """
    path = locate("boston", (FILE,), folder) / FILE
    with path.open() as file:
        names = tuple(file.readline().strip().split(","))
        rows = np.loadtxt(file, delimiter=",", ndmin=2)
    if rows.shape[1] != len(names) or names[-1] != "medv":
        raise ValueError(f"{FILE} must be a table with a header whose last column is medv")
    return Table(rows[:, :-1], rows[:, -1], names[:-1])
