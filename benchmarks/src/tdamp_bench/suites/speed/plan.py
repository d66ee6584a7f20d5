"""How much a speed run does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes of the speed benchmark; None rows means all of them."""

    rows: int | None = None
    batch: int = 100
    warmup: int = 1
    epochs: int = 7
    pytagi_rows: int = 6000
    gemm_size: int = 2048
    gemm_repeats: int = 7
    hidden: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)
    wide_from: int = 512
    wide_rows: int = 12_000
    width_epochs: int = 3
    keep: float = 0.2
    keep_epochs: int = 30
    compile_cases: tuple[tuple[int, int], ...] = ((1, 2), (3, 2), (1, 3), (3, 3))
    probe_rows: int = 2000
    memory_epochs: int = 2


FULL = Plan()
QUICK = Plan(
    rows=2000,
    epochs=2,
    pytagi_rows=300,
    gemm_size=512,
    gemm_repeats=3,
    hidden=(64, 128),
    width_epochs=1,
    keep_epochs=6,
    compile_cases=((1, 2),),
    memory_epochs=1,
)
"""Checks that everything runs; its numbers and verdicts mean nothing."""
