"""Boston, 13-64-64-1, random splits: NMSE by epoch beside the whole grid of Adams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import presets
from ..problems import Problem
from ..progress import Tick, silent
from ..record import Verdict
from ..scoring import at
from .contest import means, train_adam, train_ours
from .plan import Plan

HIDDEN = (64, 64)
CHECKPOINTS = (5, 10, 20, 50, 100)


def run(problems: Sequence[Problem], plan: Plan, libraries: Sequence[str], tick: Tick = silent) -> dict[str, Any]:
    """tdamp on every split, and every Adam of the grid; seed k on split k."""
    widths = (problems[0].x.shape[1], *HIDDEN, problems[0].y.shape[1])
    ours = [
        train_ours(problem, widths, presets.BOSTON, plan.boston_epochs, seed, _every(plan.boston_epochs, tick))[0]
        for seed, problem in enumerate(problems)
    ]
    adams = {library: adam_grid(library, problems, widths, plan, tick) for library in libraries}
    return {
        "config": {
            "widths": widths,
            "splits": len(problems),
            "rows": len(problems[0].x),
            "test_rows": len(problems[0].x_test),
            "batch": plan.boston_batch,
            "epochs": plan.boston_epochs,
        },
        "runs": {"tdamp": ours},
        "mean": {"tdamp": means(ours)},
        "adam": adams,
    }


def adam_grid(
    library: str, problems: Sequence[Problem], widths: tuple[int, ...], plan: Plan, tick: Tick = silent
) -> dict[str, Any]:
    """Validation and test NMSE of every rate, split and epoch; the rate chosen on validation; the test envelope."""
    held_out = [problem.validation(round(plan.boston_validation * len(problem.x)), seed=0) for problem in problems]
    validation = _curves(library, held_out, widths, plan, tick)
    test = _curves(library, problems, widths, plan, tick)
    chosen = int(np.argmin(validation.mean(0)[:, -1]))
    names = [f"{rate:g}" for rate in plan.rates]
    return {
        "chosen": plan.rates[chosen],
        "by": f"mean over splits of validation NMSE after epoch {plan.boston_epochs}, "
        f"{plan.boston_validation:.0%} of the training rows",
        "validation_mean": dict(zip(names, validation.mean(0), strict=True)),
        "test_by_split": dict(zip(names, test.transpose(1, 0, 2), strict=True)),
        "test_mean": dict(zip(names, test.mean(0), strict=True)),
        "chosen_test_mean": test.mean(0)[chosen],
        "envelope": test.mean(0).min(0),
    }


def _curves(library: str, problems: Sequence[Problem], widths: tuple[int, ...], plan: Plan, tick: Tick) -> np.ndarray:
    """NMSE, (splits, rates, epochs)."""
    if library == "optax":
        from ..baselines.adam_grid import nmse_curves

        grid = nmse_curves(problems, widths, plan.rates, plan.boston_batch, plan.boston_epochs)
        for seed in range(len(problems)):
            tick(f"Adam (optax), all rates, split {seed}")
        return grid
    found = []
    for seed, problem in enumerate(problems):
        runs = [
            train_adam(library, problem, widths, rate, plan.boston_batch, plan.boston_epochs, seed)
            for rate in plan.rates
        ]
        found.append([run["nmse"] for run in runs])
        tick(f"Adam ({library}), all rates, split {seed}")
    return np.array(found)


def _every(count: int, tick: Tick) -> Tick:
    """A tick that passes on every `count`-th call."""
    calls = 0

    def counted(what: str) -> None:
        nonlocal calls
        calls += 1
        if calls % count == 0:
            tick(what)

    return counted


def steps(plan: Plan, libraries: Sequence[str]) -> int:
    """Ticks of `run`: one for each split of tdamp, and two (validation, test) for each split of an Adam."""
    return plan.boston_splits * (1 + 2 * len(libraries))


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """tdamp against the best Adam, any rate and library, at each checkpoint."""
    ours = result["mean"]["tdamp"]["nmse"]
    if not result["adam"]:
        return []
    best = np.min([found["envelope"] for found in result["adam"].values()], axis=0)
    return [
        Verdict(f"Boston NMSE after {epoch} epochs, against the best Adam there", at(ours, epoch), "<", at(best, epoch))
        for epoch in CHECKPOINTS
        if epoch <= len(ours)
    ]
