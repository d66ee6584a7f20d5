"""Training curves: test loss by epoch, Boston and MNIST."""

from __future__ import annotations

import math

import pandas as pd
from rich.console import Console

from ..record import Verdict
from . import draw, panels, tidy
from .evaluation import evaluate
from .methods import NAMES, OURS
from .options import Options
from .plan import Curve, Plan
from .publish import Finding, publish
from .tasks import Task

TITLE = "Test loss by epoch"

PLAN = Plan(
    name="curves",
    whole=True,
    siblings=("sparsity",),
    curves=(
        Curve("tdamp"),
        Curve("tdamp_paper"),
        Curve("amp"),
        Curve("adam", label="Adam"),
        Curve("early_stop"),
        Curve("group_lasso"),
        Curve("group_snip", keeps=(0.5,), label="group SNIP, half of the units"),  # with all it would be Adam
    ),
)
SPEED_UP = 0.5
"""Share of Adam's epochs within which tdamp is to reach Adam's best."""


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is."""
    found = evaluate(PLAN, options, console)
    points = tidy.summary(tidy.table(found.cells))
    draw.figure(panels.by_epoch(found, points), options.folder(PLAN.name) / PLAN.name)
    publish(found, points, findings(points, found.tasks), console)


def findings(points: pd.DataFrame, tasks: dict[str, Task]) -> list[Finding]:
    """The paper's two claims, of both variants: faster than Adam, and better than Adam and AMP after the last epoch."""
    found = []
    for data, task in tasks.items():
        means = {name: group["mean"].tolist() for name, group in tidy.pick(points, data=data).groupby("method")}
        for variant in (name for name in OURS if name in means):
            if "adam" in means:
                found.append(_speed(task, variant, means[variant], means["adam"]))
            found += [
                _better(task, variant, means[variant], means[name], label)
                for name, label in (("adam", "Adam"), ("amp", "AMP"))
                if name in means
            ]
    return found


def epochs_to_reach(curve: list[float], target: float) -> float:
    """The first epoch at which a curve is as low as the target; infinite where it never is."""
    return next((float(epoch) for epoch, loss in enumerate(curve, start=1) if loss <= target), math.inf)


def _speed(task: Task, variant: str, ours: list[float], adam: list[float]) -> Finding:
    best = min(adam)
    needed, had = epochs_to_reach(ours, best), epochs_to_reach(adam, best)
    name = NAMES[variant]
    verdict = Verdict(
        f"{task.title}, {name}: epochs to Adam's best loss, over Adam's own", needed / had, "<=", SPEED_UP
    )
    when = f"is there after {needed:g}" if math.isfinite(needed) else "never gets there"
    return Finding(
        verdict,
        f"{task.title}: Adam's mean {task.loss} is least, {best:.4g}, after {had:g} epochs; {name} {when}.",
        "faster",
        variant,
    )


def _better(task: Task, variant: str, ours: list[float], theirs: list[float], label: str) -> Finding:
    name = NAMES[variant]
    verdict = Verdict(f"{task.title}, {name}: final mean {task.loss}, against {label}'s", ours[-1], "<", theirs[-1])
    word = "below" if verdict.met else "not below"
    return Finding(
        verdict,
        f"{task.title}: {name} ends at a mean {task.loss} of {ours[-1]:.4g}, {word} {label}'s {theirs[-1]:.4g}.",
        "better",
        variant,
    )
