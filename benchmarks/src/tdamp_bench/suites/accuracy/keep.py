"""MNIST with exactly round(keep x units) of its inputs and hidden units left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import presets
from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.record import Verdict
from .contest import means, train_ours
from .mnist import HIDDEN, widths_of
from .plan import Plan

LIMITS = {0.5: (0.0172, 0.016), 0.3: (0.018, 0.017), 0.2: (0.023, 0.021), 0.1: (0.039, 0.032)}
"""Error to reach within 30 epochs, and the stretch, by share kept."""


class WrongCount(AssertionError):
    """A pruned network does not have the number of units that was asked for."""


def run(problem: Problem, plan: Plan, seeds: Sequence[int], tick: Tick = silent) -> dict[str, Any]:
    """Every share kept, every seed; the unit count is asserted at the end of each fit."""
    widths = widths_of(problem, HIDDEN)
    by_keep = {}
    for keep in plan.keeps:
        wanted = round(keep * sum(widths[:-1]))
        runs = []
        for seed in seeds:
            run, model = train_ours(problem, widths, presets.sparse(keep), plan.keep_epochs, seed, tick)
            if model.n_units != wanted:
                raise WrongCount(f"keep {keep}: {model.n_units} units are left, not {wanted}")
            runs.append(run | {"widths": model.widths})
        by_keep[f"{keep:g}"] = {
            "units": wanted,
            "runs": runs,
            "mean": means(runs),
        }
    config = {"widths": widths, "rows": len(problem.x), "epochs": plan.keep_epochs, "seeds": list(seeds)}
    return {"config": config, "by_keep": by_keep}


def steps(plan: Plan, seeds: Sequence[int]) -> int:
    """Ticks of `run`."""
    return len(plan.keeps) * plan.keep_epochs * len(seeds)


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Error after the last epoch, not the best one seen."""
    judged = []
    for keep, (limit, stretch) in LIMITS.items():
        if f"{keep:g}" in result["by_keep"]:
            error = result["by_keep"][f"{keep:g}"]["mean"]["error_predictive"]
            claim = f"MNIST error at keep {keep:g} after {len(error)} epochs"
            judged.append(Verdict(claim, error[-1], "<=", limit))
            judged.append(Verdict(f"{claim} (stretch)", error[-1], "<=", stretch))
    return judged
