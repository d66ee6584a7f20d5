"""How much an accuracy run does."""

from __future__ import annotations

from dataclasses import dataclass

from ...methods.baselines.adam import RATES


@dataclass(frozen=True)
class Plan:
    """Sizes of the four parts; None rows means all of them. `mnist_shorter`: where further schedules of AdamW end."""

    rows: int | None = None
    test_rows: int | None = None
    validation_rows: int = 10_000
    batch: int = 100
    rates: tuple[float, ...] = RATES
    mnist_epochs: int = 25
    mnist_shorter: tuple[int, ...] = (3, 5, 10)
    boston_splits: int = 10
    boston_epochs: int = 100
    boston_batch: int = 101
    boston_validation: float = 0.2
    keeps: tuple[float, ...] = (0.5, 0.3, 0.2, 0.1)
    keep_epochs: int = 30
    depth_epochs: int = 25
    depth_grid_epochs: int = 8


FULL = Plan()
QUICK = Plan(
    rows=3000,
    test_rows=1000,
    validation_rows=500,
    mnist_epochs=3,
    mnist_shorter=(2,),
    boston_splits=2,
    boston_epochs=10,
    keeps=(0.5,),
    keep_epochs=6,
    depth_epochs=3,
    depth_grid_epochs=1,
)
"""Checks that everything runs; its numbers and verdicts mean nothing."""
