"""How much a run of the class probabilities does."""

from __future__ import annotations

from dataclasses import dataclass

from ...methods.baselines.adam import RATES


@dataclass(frozen=True)
class Plan:
    """Sizes; None rows means all of them. `angles` and `letter_tilts` are degrees.

    A rate of Adam is tried for at most `adam_epochs`, and no longer than `adam_patience` epochs after the best one.
    """

    rows: int | None = None
    test_rows: int | None = None
    validation_rows: int = 10_000
    hidden: tuple[int, ...] = (128,)
    batch: int = 100
    epochs: int = 25
    rates: tuple[float, ...] = RATES
    adam_epochs: int = 80
    adam_patience: int = 10
    members: int = 5
    laplace_samples: int = 100
    angles: tuple[int, ...] = tuple(range(0, 181, 15))
    letter_tilts: tuple[float, ...] = (-15.0, -7.5, 0.0, 7.5, 15.0)


FULL = Plan()
QUICK = Plan(
    rows=2500,
    test_rows=300,
    validation_rows=500,
    hidden=(32,),
    epochs=3,
    adam_epochs=2,
    members=2,
    laplace_samples=10,
    angles=(0, 90, 180),
    letter_tilts=(0.0,),
)
"""Checks that everything runs; its numbers and verdicts mean nothing."""
SEEDS = (0, 1, 2)
