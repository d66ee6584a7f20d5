"""Seconds of each epoch while units leave the arrays, recompilation included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ...algorithm import Settings
from .. import ours
from ..problems import Problem
from ..progress import Tick, silent
from ..record import Verdict


def measure(
    problem: Problem, widths: tuple[int, ...], settings: Settings, epochs: int, tick: Tick = silent
) -> dict[str, Any]:
    """Run a pruned training from an empty compilation cache."""
    jax.clear_caches()
    seconds: list[float] = []
    units: list[int] = []

    def on_epoch(epoch: int, model: ours.Ours, taken: float) -> None:
        seconds.append(taken)
        units.append(model.n_units)
        tick(f"pruning, epoch {epoch}, {model.n_units} units")

    ours.train(problem, widths, replace(settings, max_epochs=epochs), 0, on_epoch)
    return compare(seconds, [sum(widths[:-1]), *units[:-1]]) | {"units_after": units, "settings": str(settings)}


def compare(seconds: Sequence[float], units: Sequence[int]) -> dict[str, Any]:
    """An epoch before and after compaction; `units[e]` is how many there were while epoch e ran.

    Before: the median epoch of the full network, without the very first, which compiles (a median, because the
    last one also pays for the removal). After: the mean from the first epoch at the final size on, which compiles
    it. `shrinking_ratio` takes the mean of every epoch since the first removal instead.
    """
    taken, size = np.asarray(seconds), np.asarray(units)
    full = np.flatnonzero(size == size[0])
    before = float(np.median(taken[full[1:]] if len(full) > 1 else taken[:1]))
    nan = float("nan")
    small, final = taken[size < size[0]], taken[(size == size[-1]) & (size < size[0])]
    return {
        "seconds": list(seconds),
        "units_during": [int(n) for n in units],
        "before": before,
        "after": float(final.mean()) if len(final) else nan,
        "ratio": float(final.mean() / before) if len(final) else nan,
        "shrinking_ratio": float(small.mean() / before) if len(small) else nan,
        "total": float(taken.sum()),
    }


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Threshold for keep 0.2."""
    return [Verdict("Epoch time at keep 0.2, after compaction / before", result["ratio"], "<=", 0.4)]
