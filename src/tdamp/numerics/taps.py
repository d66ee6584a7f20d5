"""Tables of weights in which a unit has several rows: one for each tap of a filter, or for each place of an image.

The rows come tap by tap, and within a tap unit by unit. A table of a dense layer on single units has one row for each.
NumPy or JAX arrays.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def to_rows(per_unit: Any, n_rows: int) -> Any:
    """What each unit has, given to each of its rows, (n_rows,)."""
    copies = n_rows // max(len(per_unit), 1)
    if copies == 1:
        return per_unit
    return (np if isinstance(per_unit, np.ndarray) else jnp).tile(per_unit, copies)


def to_units(per_row: Any, n_units: int) -> Any:
    """The sum over each unit's rows, (n_units,)."""
    return per_row if len(per_row) == n_units else per_row.reshape(-1, n_units).sum(0)


def rows_of(units: np.ndarray, n_units: int, n_rows: int) -> np.ndarray:
    """The rows of some of `n_units` units, in the order of a table that has these units alone."""
    copies = n_rows // max(n_units, 1)
    return units if copies == 1 else (n_units * np.arange(copies)[:, None] + units).ravel()
