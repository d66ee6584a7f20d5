"""best: the posterior with the highest score is kept."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from tdamp.training.best import Best


def of(score: float) -> Best:
    """A candidate; only its score matters."""
    nothing: Any = None
    return Best(score, 3, nothing, nothing, ())


@pytest.mark.parametrize(
    ("old", "new", "taken"),
    [(1.0, 2.0, True), (1.0, 1.0, False), (1.0, 0.5, False), (1.0, nan, False), (nan, -5.0, True), (-inf, -5.0, True)],
)
def test_the_better_one(old: float, new: float, taken: bool) -> None:
    """contract: a higher score wins, the earlier of two equal ones stays, and no NaN keeps its place."""
    earlier, later = of(old), of(new)
    assert later.better(earlier) is (later if taken else earlier)


def test_the_first_is_the_best_so_far() -> None:
    """identity: without another one, whatever its score."""
    first = of(nan)
    assert first.better(None) is first
