"""How much a growth run does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes. Inputs and classes are MNIST's; hidden layers have `hidden` units unless a series changes them."""

    inputs: int = 784
    classes: int = 10
    batch: int = 100
    repeats: int = 7
    warmup: int = 1
    gemm_size: int = 2048
    gemm_repeats: int = 5
    hidden: int = 128
    rows: tuple[int, ...] = (2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
    width: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)
    width_rows: int = 4_000
    depth: tuple[int, ...] = (1, 2, 4, 8, 16)
    depth_hidden: int = 256
    depth_rows: int = 2_000
    kept: tuple[float, ...] = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.1)
    kept_hidden: int = 1024
    kept_rows: int = 4_000


FULL = Plan()
QUICK = Plan(
    inputs=24, batch=50, repeats=2, gemm_size=256, gemm_repeats=2, rows=(100, 200, 400), hidden=16, width=(8, 16, 32),
    width_rows=100, depth=(1, 2, 3), depth_hidden=8, depth_rows=100, kept=(1.0, 0.5, 0.25), kept_hidden=32,
    kept_rows=100,
)  # fmt: skip
"""Checks that everything runs; its numbers and verdicts mean nothing."""
