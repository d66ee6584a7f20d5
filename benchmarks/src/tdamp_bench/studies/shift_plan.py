"""Sizes of the study of shifts."""

from __future__ import annotations

from typing import NamedTuple

from ..suites.classes.plan import Plan as Classes


class Plan(NamedTuple):
    """Sizes; a quick run's figures mean nothing."""

    rows: int = 400
    test_rows: int = 500
    hidden: int = 50
    deltas: tuple[float, ...] = (0.0, 0.1, 0.2, 0.4, 0.6, 1.0)
    angles: tuple[int, ...] = (0, 15, 30, 45, 60, 90)
    noises: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6)
    classes: Classes = Classes(
        rows=5000, test_rows=1000, validation_rows=1000, hidden=(64,), adam_epochs=30, adam_patience=5
    )
    most_seeds: int = 5


QUICK = Plan(
    100,
    50,
    8,
    (0.0, 0.5),
    (0, 45),
    (0.0, 0.3),
    Classes(
        rows=600,
        test_rows=100,
        validation_rows=100,
        hidden=(16,),
        epochs=2,
        adam_epochs=2,
        members=2,
        laplace_samples=5,
    ),
)
