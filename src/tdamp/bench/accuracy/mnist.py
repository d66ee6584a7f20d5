"""MNIST, 784-128-10: the paper's network beside both Adams; and a deep one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import presets
from ..problems import Problem
from ..progress import Tick, silent
from ..record import Verdict
from ..scoring import at
from .contest import contest, steps
from .plan import Plan

HIDDEN = (128,)
DEEP_WIDTH = 256
DEPTHS = {"depth": 4, "depth8": 8, "depth16": 16}
"""Hidden layers of each part."""
LIMITS = {4: 0.022, 8: 0.025}
"""Errors that are wanted after the last epoch, by hidden layers."""
DEPTH_LIBRARIES = ("optax",)
"""One Adam is enough for depth: the two differ by rounding only."""


def widths_of(problem: Problem, hidden: tuple[int, ...]) -> tuple[int, ...]:
    """Inputs, hidden layers, one output per class."""
    return (problem.x.shape[1], *hidden, int(problem.y.max()) + 1)


def run(
    problem: Problem, plan: Plan, libraries: Sequence[str], seeds: Sequence[int], tick: Tick = silent
) -> dict[str, Any]:
    """Shallow contest, every library's rate chosen after as many epochs as are then run."""
    return contest(
        problem,
        widths_of(problem, HIDDEN),
        presets.MNIST,
        libraries,
        rates=plan.rates,
        batch=plan.batch,
        epochs=plan.mnist_epochs,
        grid_epochs=plan.mnist_epochs,
        validation_rows=plan.validation_rows,
        seeds=seeds,
        tick=tick,
    )


def run_depth(
    problem: Problem, plan: Plan, libraries: Sequence[str], seeds: Sequence[int], hidden: int, tick: Tick = silent
) -> dict[str, Any]:
    """Deep contest; Adam's rate is chosen after fewer epochs, to save time."""
    return contest(
        problem,
        widths_of(problem, (DEEP_WIDTH,) * hidden),
        presets.deep(hidden),
        libraries,
        rates=plan.rates,
        batch=plan.batch,
        epochs=plan.depth_epochs,
        grid_epochs=plan.depth_grid_epochs,
        validation_rows=plan.validation_rows,
        seeds=seeds,
        tick=tick,
    )


def run_steps(plan: Plan, libraries: Sequence[str], seeds: Sequence[int]) -> int:
    """Ticks of `run`."""
    return steps(libraries, plan.rates, plan.mnist_epochs, plan.mnist_epochs, seeds)


def depth_steps(plan: Plan, libraries: Sequence[str], seeds: Sequence[int]) -> int:
    """Ticks of `run_depth`."""
    return steps(libraries, plan.rates, plan.depth_epochs, plan.depth_grid_epochs, seeds)


def better_adam(result: dict[str, Any]) -> np.ndarray | None:
    """The lowest mean error of any Adam, epoch by epoch."""
    curves = [mean["error"] for name, mean in result["mean"].items() if name != "tdamp"]
    return np.min(curves, axis=0) if curves else None


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Thresholds for the shallow network; tdamp predicts with its predictive distribution."""
    error = np.array(result["mean"]["tdamp"]["error_predictive"])
    found = [
        Verdict(f"MNIST error after {epoch} epochs{stretch}", at(error, epoch), "<=", limit)
        for epoch, stretch, limit in ((5, "", 0.026), (25, "", 0.019), (25, " (stretch)", 0.016))
        if epoch <= len(error)
    ]
    adam = better_adam(result)
    if adam is not None and len(error) >= 3:
        worst = float((error - adam)[2:].max())
        found.append(Verdict("MNIST error minus the better Adam's, worst epoch from 3 on", worst, "<", 0.0))
    return found


def depth_verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Thresholds for the deep network."""
    error = result["mean"]["tdamp"]["error_predictive"]
    hidden = len(result["config"]["widths"]) - 2
    name, last = f"784-{DEEP_WIDTH}x{hidden}-10 error", f"after {len(error)} epochs"
    found = [Verdict(f"{name} {last}", error[-1], "<=", LIMITS[hidden])] if hidden in LIMITS else []
    adam = better_adam(result)
    if adam is not None:
        found.append(Verdict(f"{name} minus Adam's {last}", error[-1] - float(adam[-1]), "<=", 0.003))
    return found
