"""How much a soak does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes. Problems of one configuration share their compiled programs."""

    configurations: int = 25
    problems: int = 80  # of each configuration
    epochs: int = 3
    batches: int = 10_000  # of each stream
    snapshot_every: int = 50  # batches between two snapshots of a stream's posterior and predictions
    clean: int = 200  # batches after a stream that are not spoiled


FULL = Plan()
QUICK = Plan(configurations=2, problems=5, batches=12, snapshot_every=4, clean=2)
"""Checks that everything runs."""
