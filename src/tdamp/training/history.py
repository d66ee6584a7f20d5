"""The record of an epoch, as it stands in the history of a training."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

import numpy as np

from ..engine.info import Info
from ..engine.settings import Settings
from ..engine.state import State
from .fitted import active_units

Record = dict[str, Any]


def epoch_record(
    epoch: int, seconds: float, data_weight: float, state: State, info: Info, rows: float, counted: float
) -> Record:
    """What an epoch (counted from 1) on so many rows has come to."""
    return {
        "epoch": epoch,
        "seconds": seconds,
        "data_weight": data_weight,
        "counted": counted,
        "noise_var": np.asarray(state.noise_var).tolist(),
        "log_evidence": float(info.log_evidence) / rows,
        "active_units": [int(mask.sum()) for mask in active_units(state)],
        **{name: int(count) for name, count in info.clips._asdict().items()},
        "noise_clips": int(info.noise_clips),
    }


def times_counted(history: Sequence[Record], settings: Settings, epoch: int, passes: int) -> float:
    """How often the posterior counts each row after an epoch: it approaches data_weight as fast as memory lets it.

    `history` are the records before this epoch (of the schedule), `passes` the epochs of this training.
    """
    if settings.pasp == "paper":
        return float(passes)
    before = history[-1]["counted"] if history else 0.0
    kept = exp(-1 / settings.memory_at(epoch - 1))
    return kept * before + (1 - kept) * settings.data_weight_at(epoch - 1)
