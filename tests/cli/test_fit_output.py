"""What `tdamp fit` prints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdamp.cli.fit_output import coverage_meaning, pruning_line
from tdamp.engine.settings import Settings


def test_a_search_that_keeps_all_units_says_so() -> None:
    """contract: keep="auto" ended with the training that removes nothing."""
    estimator: Any = SimpleNamespace(settings_=Settings(), keep="auto")
    assert pruning_line(estimator).startswith("Nothing was pruned")


@pytest.mark.parametrize(
    ("held", "words"), [(True, "no epoch had all units to compare with"), (False, "no rows were held out")]
)
def test_why_nothing_says_what_pruning_cost(held: bool, words: str) -> None:
    """contract: rows that were held out are not said to be missing where epochs were."""
    history = ({"epoch": 1, **({"held_out": -1.0} if held else {})},)
    fitted = SimpleNamespace(history=history)
    pruned: Any = SimpleNamespace(
        settings_=Settings(keep=3), keep=3, n_groups_=(3, 9), pruning_loss_=None, fitted_=fitted
    )
    assert pruning_line(pruned).startswith("Pruned to 3 of 9 groups (") and words in pruning_line(pruned)


def test_intervals_that_are_too_narrow() -> None:
    """rate: 81 % of 70 rows lie 5 sds of a binomial count below 95 %, 90 % of 20 rows but one."""
    assert "too narrow" in coverage_meaning(0.81, 70)
    assert "too narrow" not in coverage_meaning(0.90, 20) and "too narrow" not in coverage_meaning(1.0, 1000)
