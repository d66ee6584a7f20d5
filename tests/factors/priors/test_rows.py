"""Tables in which a unit has several rows."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tdamp.factors.priors.base import rows_of, to_rows, to_units

UNITS, TAPS = 3, 4


@pytest.mark.parametrize("xp", [np, jnp])
def test_rows_and_units(xp) -> None:
    """enumeration: row t UNITS + n belongs to unit n; sums over a unit's rows, and back."""
    table = xp.asarray(np.arange(UNITS * TAPS, dtype=np.float64))
    expected = [sum(float(table[t * UNITS + n]) for t in range(TAPS)) for n in range(UNITS)]
    np.testing.assert_allclose(to_units(table, UNITS), expected)
    rows = to_rows(xp.asarray([5.0, 6.0, 7.0]), UNITS * TAPS)
    assert [float(rows[t * UNITS + n]) for t in range(TAPS) for n in range(UNITS)] == [5, 6, 7] * TAPS
    assert isinstance(rows, np.ndarray) == (xp is np)


def test_rows_of_some_units() -> None:
    """enumeration: the rows of units 2 and 0 are, tap by tap, those of a table that has them alone."""
    units = np.array([2, 0])
    rows = rows_of(units, UNITS, UNITS * TAPS)
    assert rows.tolist() == [t * UNITS + n for t in range(TAPS) for n in (2, 0)]
    np.testing.assert_array_equal(rows_of(units, UNITS, UNITS), units)


def test_a_row_for_each_unit() -> None:
    """identity: where a unit has one row nothing happens."""
    values = np.arange(3.0)
    assert to_rows(values, 3) is values and to_units(values, 3) is values
