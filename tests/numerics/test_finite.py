"""Tables of finite numbers: the error says where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp.numerics import finite


def test_the_first_place_is_named() -> None:
    """contract: row, column or its name, and how many."""
    table = np.zeros((5, 3))
    finite.check_finite("X", table)
    table[3, 1], table[4, 0] = np.nan, -np.inf
    with pytest.raises(ValueError, match=r"X has 2 NaN or infinite values \(first at row 3, column 1\): impute"):
        finite.check_finite("X", table)
    with pytest.raises(ValueError, match=r"row 3, column 'b'\): look again"):
        finite.check_finite("X", table, "look again", np.array(["a", "b", "c"], object))


def test_rows_of_later_pieces_count_from_the_table_s_first() -> None:
    """contract: a table of more numbers than are looked at together."""
    table = np.zeros((2**18 + 10, 2), np.float32)
    table[-4, 1] = np.inf
    with pytest.raises(ValueError, match=f"first at row {len(table) - 4}, column 1"):
        finite.check_finite("X", table)


def test_whole_numbers_are_finite() -> None:
    """contract: nothing to look for, and no column to divide by."""
    finite.check_finite("y", np.ones((3, 1), int))
    finite.check_finite("X", np.zeros((3, 0)))
