"""A fit from files: the counterpart of `fitting.fit_table` for rows that are not in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings
from ..sources.spill import MOST_HELD, Streamed
from ..training.checkpoint import Checkpoint
from ..training.fit import fit_checked
from ..training.fitted import Callback, Fitted
from .held_out import HeldOut, carried, without_any

CHUNK_NUMBERS = 2**23
"""Of x in memory at a time: 32 MB. There are two such chunks, and copies on the way to the device."""


def n_held(n_rows: int, fraction: float | None) -> int:
    """Rows to hold out."""
    return 0 if fraction is None else min(ceil(fraction * n_rows), MOST_HELD)


def chunk_rows(n_rows: int, n_inputs: int) -> int:
    """Rows in memory at a time: chunks are of one size, so that one program is compiled and hardly a row is padding."""
    return ceil(n_rows / ceil(n_rows * n_inputs / CHUNK_NUMBERS))


def fit_streamed(
    network: Network,
    data: Streamed,
    settings: Settings,
    *,
    seed: int,
    groups: np.ndarray | None = None,
    start: Fitted | None = None,
    callback: Callback | None = None,
    tick: Callable[[float], None] | None = None,
    devices: Any = None,
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """Train once on the rows in files, stop by the rows held out, and calibrate by them; a training that goes on from a
    `start`, which may have learned from any, holds none out."""
    n_rows, n_inputs = data.stored.x.shape
    settings = replace(settings, chunk_rows=chunk_rows(n_rows, n_inputs))
    held = None if data.held is None else HeldOut(data.held, data.some)
    monitor = None if held is None else held.score
    stage = None if checkpoint is None else checkpoint.stage("training", held)
    rest: dict[str, Any] = {"tick": tick, "devices": devices, "checkpoint": stage}
    fitted = fit_checked(network, data.stored, settings, seed, groups, callback, monitor, start, **rest)
    if held is not None:
        return replace(fitted, calibration=held.calibration(fitted))
    if start is not None:
        return replace(fitted, calibration=carried(fitted, data.some, start))
    weight = data.some.weight * (data.stored.weight.sum() / data.some.weight.sum())  # some stand for all
    return replace(fitted, calibration=without_any(fitted, data.some._replace(weight=weight)))
