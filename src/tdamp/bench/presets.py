"""The settings that the benchmarks run with. Chosen on a validation split of the training data only."""

from __future__ import annotations

from dataclasses import replace

from ..settings import Settings

MNIST = Settings(batch_size=100, max_epochs=25)
"""784-128-10: the defaults. One sweep; the data weight grows by one an epoch, up to 20."""

BOSTON = Settings(
    batch_size=101,
    max_epochs=100,
    sweeps=4,
    damping=0.5,
    noise_every="epoch",
    data_weight=10.0,
    trust=1.0,
    init_noise=0.15,
)
"""13-64-64-1: a quarter of the data at a time pulls together, so several sweeps and a tight trust."""

DEEP = MNIST
"""784-256-256-256-256-10: the defaults too; the initial variance follows the depth."""


def sparse(keep: float) -> Settings:
    """MNIST with a share `keep` of its 912 units (784 inputs, 128 hidden) left at the end.

    While units go, the posterior forgets within an epoch (`memory`), so that those that remain can take over; then
    memory and data weight grow again. Smaller networks learn from a shorter memory.
    """
    memory, data_weight, later = (
        (1.0, 2.0, 6.0) if keep >= 0.4 else (0.5, 1.0, 3.0) if keep >= 0.15 else (0.3, 1.0, 3.0)
    )
    return replace(
        MNIST,
        max_epochs=30,
        keep=keep,
        prune_end=0.6,
        memory=_then_grow(memory, later),
        data_weight=_then_grow(data_weight, later),
    )


def _then_grow(early: float, late: float) -> tuple[float, ...]:
    """Constant for 22 epochs, then in eight even steps to `late`."""
    return (early,) * 22 + tuple(early + (late - early) * step / 8 for step in range(1, 9))
