"""Settings chosen from the size of the data (a first version, being measured)."""

from __future__ import annotations

from typing import NamedTuple

from .network import Task


class Choice(NamedTuple):
    """What `choose` decides."""

    batch_size: int
    sweeps: int
    damping: float
    data_weight: float | tuple[float, ...]
    max_epochs: int
    trust: float
    init_noise: float
    noise_every: str
    hold_out: bool


def choose(task: Task, n_rows: int, n_inputs: int, n_layers: int) -> Choice:
    """Settings for a table of this size."""
    batch = min(64, 1 << max(3, (n_rows // 8).bit_length()))
    ramp = tuple(float(min(1 + i * 0.3, 6)) for i in range(40))
    return Choice(batch, 1, 0.5, ramp, 40, 2.0, 0.3, "minibatch", n_rows >= 200)
