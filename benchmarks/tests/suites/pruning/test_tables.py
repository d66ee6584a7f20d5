"""The tables that need no download."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp_bench.cli.bench import PRUNED
from tdamp_bench.suites.pruning.tables import TABLES


def test_the_command_names_all_tables():
    """contract: twelve, half of them regressions, with groups, two and three hidden layers."""
    assert tuple(TABLES) == PRUNED and len(TABLES) == 12
    assert sum(table.classes for table in TABLES.values()) == 6
    assert {len(table.hidden) for table in TABLES.values()} == {2, 3}


FETCHED = "airfoil", "puma32h", "segment", "spambase"


@pytest.mark.parametrize("name", [name for name in TABLES if name not in FETCHED])
def test_rows(name):
    """contract: finite inputs, the same for the same seed; classes are 0, 1, ...; groups name inputs once."""
    table = TABLES[name]
    rows, again = table.draw(0), table.draw(0)
    assert np.isfinite(rows.x).all() and np.array_equal(rows.x, again.x) and len(rows.x) == len(rows.y)
    if table.classes:
        assert np.array_equal(np.unique(rows.y), np.arange(rows.y.max() + 1))
    if rows.groups:
        inputs = [number for group in rows.groups for number in group]
        assert len(set(inputs)) == len(inputs) and max(inputs) < rows.x.shape[1]
