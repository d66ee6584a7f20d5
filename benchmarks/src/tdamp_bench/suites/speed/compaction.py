"""Seconds of each epoch while units leave the arrays, recompilation included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from tdamp.engine.network import n_multiply_adds
from tdamp.engine.settings import Settings

from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.record import Verdict
from ...methods import tdamp


def measure(
    problem: Problem, widths: tuple[int, ...], settings: Settings, epochs: int, tick: Tick = silent
) -> dict[str, Any]:
    """Run a pruned training from an empty compilation cache."""
    jax.clear_caches()
    seconds: list[float] = []
    units: list[int] = [sum(widths[:-1])]
    work: list[int] = [n_multiply_adds(widths)]

    def on_epoch(epoch: int, model: tdamp.Ours, taken: float) -> None:
        seconds.append(taken)
        units.append(model.n_units)
        work.append(n_multiply_adds(model.widths))
        tick(f"pruning, epoch {epoch}, {model.n_units} units")

    tdamp.train(problem, widths, replace(settings, max_epochs=epochs), 0, on_epoch)
    during = {"units_during": units[:-1], "units_after": units[1:], "settings": str(settings)}
    return compare(seconds, work[:-1]) | during


def compare(seconds: Sequence[float], work: Sequence[int]) -> dict[str, Any]:
    """An epoch before and after compaction; `work[e]` are the multiply-adds of the arrays that epoch e ran on.

    Before: the median epoch on the full arrays, without the very first, which compiles. After: the mean of all
    epochs since the arrays first shrank, every compilation included. `steady` is the last five's median over before.
    """
    taken, size = np.asarray(seconds), np.asarray(work)
    full = np.flatnonzero(size == size[0])
    before = float(np.median(taken[full[1:]] if len(full) > 1 else taken[:1]))
    small = taken[size < size[0]]
    after, last = (float(small.mean()), float(np.median(small[-5:]))) if len(small) else (float("nan"),) * 2
    return {
        "seconds": list(seconds),
        "work_during": [int(n) for n in work],
        "before": before,
        "after": after,
        "ratio": after / before,
        "steady": last / before,
        "total": float(taken.sum()),
    }


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Threshold for keep 0.2."""
    return [Verdict("Epoch time at keep 0.2, after compaction / before", result["ratio"], "<=", 0.4)]
