"""MNIST, 784-128-10: the paper's network beside two plain Adams and AdamW; and a deep one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tdamp.estimators import defaults

from ...core import presets
from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.record import Verdict
from ...core.scoring import at
from .contest import STRONG_ADAM, Rules, against, contest, shorter_adam, steps
from .plan import Plan

HIDDEN = (128,)
ANNEALED = "tdamp_annealed"
"""The arm whose pace falls until the last epoch, as AdamW's does; that of "tdamp" may be stopped anywhere."""
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
    arms = {"tdamp": presets.MNIST, ANNEALED: presets.annealed(plan.mnist_epochs)}
    return contest(problem, widths_of(problem, HIDDEN), arms, libraries, _rules(plan, seeds), tick)


def run_steps(plan: Plan, libraries: Sequence[str], seeds: Sequence[int]) -> int:
    """Ticks of `run`."""
    return steps(libraries, _rules(plan, seeds), arms=2)


def _rules(plan: Plan, seeds: Sequence[int]) -> Rules:
    epochs = plan.mnist_epochs
    return Rules(plan.rates, plan.batch, epochs, epochs, plan.validation_rows, seeds, plan.mnist_shorter)


def run_depth(
    problem: Problem, plan: Plan, libraries: Sequence[str], seeds: Sequence[int], hidden: int, tick: Tick = silent
) -> dict[str, Any]:
    """Deep contest; Adam's rate is chosen after fewer epochs, to save time."""
    arms = {"tdamp": presets.deep(hidden)}
    rules = _depth_rules(plan, seeds)._replace(grid="mnist" if hidden < defaults.DEEP_HIDDEN else "mnist, deep")
    return contest(problem, widths_of(problem, (DEEP_WIDTH,) * hidden), arms, libraries, rules, tick)


def depth_steps(plan: Plan, libraries: Sequence[str], seeds: Sequence[int]) -> int:
    """Ticks of `run_depth`."""
    return steps(libraries, _depth_rules(plan, seeds))


def _depth_rules(plan: Plan, seeds: Sequence[int]) -> Rules:
    return Rules(plan.rates, plan.batch, plan.depth_epochs, plan.depth_grid_epochs, plan.validation_rows, seeds)


def plain_adams(result: dict[str, Any]) -> list[str]:
    """Those of the paper."""
    return [name for name in result["runs"] if not name.startswith(("tdamp", STRONG_ADAM))]


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Thresholds for the shallow network; tdamp predicts with its predictive distribution."""
    error = np.array(result["mean"]["tdamp"]["error_predictive"])
    judged = [
        Verdict(f"MNIST error after {epoch} epochs{stretch}", at(error, epoch), "<=", limit)
        for epoch, stretch, limit in ((5, "", 0.026), (25, "", 0.019), (25, " (stretch)", 0.016))
        if epoch <= len(error)
    ]
    gaps = [against(result, name, epoch) for name in plain_adams(result) for epoch in range(3, len(error) + 1)]
    if gaps:
        worst = max(gaps, key=lambda one: np.nan_to_num(one.in_se, nan=np.inf))
        judged.append(worst.verdict("MNIST error is below every plain Adam's, worst epoch from 3 on"))
    return judged + _strong(result, "MNIST error", len(error))


def _strong(result: dict[str, Any], what: str, epochs: int) -> list[Verdict]:
    """Against AdamW, whose schedule ends with the last epoch: by the arm of ours that has such a one, too.

    Before that, by the arm that may be stopped anywhere, against AdamW with a schedule that ends there.
    """
    if STRONG_ADAM not in result["runs"]:
        return []
    judged = [
        against(result, shorter_adam(epoch), epoch).verdict(
            f"{what} after {epoch} epochs is below AdamW's whose schedule ends there"
        )
        for epoch in range(1, epochs)
        if shorter_adam(epoch) in result["runs"]
    ]
    judged += [against(result, STRONG_ADAM, epochs).verdict(f"{what} is below AdamW's after {epochs} epochs")]
    if ANNEALED in result["runs"]:
        for key, word in (("error", "error"), ("nll", "log loss")):
            gap = against(result, STRONG_ADAM, epochs, ANNEALED, key)
            judged.append(gap.verdict(f"MNIST {word}, annealed, is below AdamW's after {epochs} epochs"))
    return judged


def depth_verdicts(result: dict[str, Any]) -> list[Verdict]:
    """Thresholds for the deep network."""
    error = result["mean"]["tdamp"]["error_predictive"]
    hidden = len(result["config"]["widths"]) - 2
    name, last = f"784-{DEEP_WIDTH}x{hidden}-10 error", f"after {len(error)} epochs"
    judged = [Verdict(f"{name} {last}", error[-1], "<=", LIMITS[hidden])] if hidden in LIMITS else []
    adams = [result["mean"][adam]["error"][-1] for adam in plain_adams(result)]
    if adams:
        judged.append(Verdict(f"{name} minus Adam's {last}", error[-1] - float(min(adams)), "<=", 0.003))
    return judged + _strong(result, name, len(error))
