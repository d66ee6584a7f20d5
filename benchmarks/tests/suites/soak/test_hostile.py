"""Hostile rows."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp_bench.suites.soak import hostile


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_hostile_rows(task):
    """contract: each trick leaves its mark, every class is there, and all numbers are finite."""
    seen, rng = set(), np.random.default_rng(0)
    for _ in range(200):
        rows = hostile.draw(rng, task, 40, 6, 3, raw=False)
        seen |= set(rows.tricks)
        assert np.isfinite(rows.x).all() and np.isfinite(rows.y).all() and len(rows.x) == len(rows.y)
        if task == "classification":
            assert set(rows.y) == {0, 1, 2}
        if "duplicates" in rows.tricks:
            assert (rows.x[len(rows.x) // 2 :] == rows.x[0]).all()
        if "weights" in rows.tricks and "few_rows" not in rows.tricks:
            assert rows.weight.max() > 1e8 * rows.weight.min()
        if "few_rows" in rows.tricks:
            assert len(rows.x) <= 6
        if "scales" in rows.tricks and "duplicates" not in rows.tricks and "one_hot" not in rows.tricks:
            size = np.abs(rows.x).max(0)
            assert size.max() > 1e3 * size.min()
    assert seen == {*hostile.INPUT_TRICKS, *hostile.TARGET_TRICKS[task], "weights"}
