"""The settings that the benchmarks run with. Chosen on training data only."""

from __future__ import annotations

from dataclasses import replace

from ..settings import Settings

MNIST = Settings(
    batch_size=100,
    max_epochs=25,
    sweeps=1,
    prior="gaussian",
    pasp="anchored",
    data_weight=tuple(float(k) for k in range(1, 21)),
)
"""784-128-10: one sweep, the data weight ramps up by one an epoch."""

BOSTON = Settings(batch_size=101, max_epochs=100, sweeps=4, damping=0.5, noise_every="epoch", data_weight=10.0)
"""13-64-64-1: small data gain from more sweeps."""

DEEP = MNIST
"""784-256-256-256-256-10: larger first means, so that the signal is not drowned by the weights' variance."""


def sparse(keep: float) -> Settings:
    """MNIST with a share `keep` of its 912 units (784 inputs, 128 hidden) left at the end."""
    return replace(MNIST, max_epochs=30, prior="group", keep=keep)
