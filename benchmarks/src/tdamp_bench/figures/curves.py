"""Training curves: test loss by epoch, Boston and MNIST."""

from __future__ import annotations

import math

import pandas as pd
from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .methods import NAMES, OURS
from .options import Options
from .paired import between, gap, last_epoch
from .plan import Curve, Plan
from .publish import Conclusion, publish
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
        Curve("adamw"),
    ),
)
RIVALS = {"adam": ("Adam", "better"), "amp": ("AMP", "better"), "adamw": ("AdamW", "strong-better")}
"""Whose final loss tdamp's is compared with, and the claim that this bears on: the paper's, or ours."""


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is."""
    evaluation = evaluate(PLAN, options, console)
    runs = tidy.table(evaluation.cells)
    points = tidy.summary(runs)
    draw.figure(panels.by_epoch(evaluation, points), options.folder(PLAN.name) / PLAN.name)
    publish(evaluation, points, conclusions(runs, evaluation.tasks), console)


def conclusions(runs: pd.DataFrame, tasks: dict[str, Task]) -> list[Conclusion]:
    """Of both variants, seed by seed: faster than Adam, and better than Adam, AMP and AdamW after the last epoch."""
    concluded = []
    for data, task in tasks.items():
        here = tidy.pick(runs, data=data, keep=1.0)
        there = set(here["method"])
        for variant in (name for name in OURS if name in there):
            if "adam" in there:
                concluded += _speed(task, variant, here)
            for rival, (label, claim) in RIVALS.items():
                concluded += _better(task, variant, here, rival, label, claim)
    return concluded


def epochs_to_reach(curve: list[float], target: float) -> float:
    """The first epoch at which a curve is as low as the target; infinite where it never is."""
    return next((float(epoch) for epoch, loss in enumerate(curve, start=1) if loss <= target), math.inf)


def _curves(runs: pd.DataFrame, method: str) -> dict[int, list[float]]:
    """Losses by epoch, of every seed."""
    by_seed = tidy.pick(runs, method=method).sort_values("epoch").groupby("seed")["loss"]
    return {int(seed): losses.tolist() for seed, losses in by_seed}


def _speed(task: Task, variant: str, runs: pd.DataFrame) -> list[Conclusion]:
    """Epochs to the least loss of Adam's run of the same seed; a run that is never there counts one more than all."""
    ours, adam = _curves(runs, variant), _curves(runs, "adam")
    seeds = sorted(ours.keys() & adam.keys())
    if not seeds:
        return []
    reached = [epochs_to_reach(ours[seed], min(adam[seed])) for seed in seeds]
    never = sum(math.isinf(epoch) for epoch in reached)
    ours_epochs = [min(epoch, len(ours[seed]) + 1) for epoch, seed in zip(reached, seeds, strict=True)]
    adam_epochs = [epochs_to_reach(adam[seed], min(adam[seed])) for seed in seeds]
    apart = gap(ours_epochs, adam_epochs)
    name = NAMES[variant]
    missed = f" (never in {never} of {len(seeds)} runs)" if never else ""
    return [
        Conclusion(
            apart.verdict(f"{task.title}, {name}: epochs to Adam's least loss are fewer than Adam's own"),
            f"{task.title}: Adam's {task.loss} is least after {apart.theirs:.3g} epochs on average; {name} is there "
            f"after {apart.ours:.3g}{missed}, difference {apart.text()}.",
            "faster",
            variant,
        )
    ]


def _better(task: Task, variant: str, runs: pd.DataFrame, rival: str, label: str, claim: str) -> list[Conclusion]:
    apart = between(last_epoch(runs), task.name, 1.0, variant, rival)
    if apart is None:
        return []
    name = NAMES[variant]
    verdict = apart.verdict(f"{task.title}, {name}: final {task.loss} is below {label}'s")
    text = f"{name} ends at a mean {task.loss} of {apart.ours:.4g}, {label} at {apart.theirs:.4g}"
    return [Conclusion(verdict, f"{task.title}: {text}: {apart.word} it, difference {apart.text()}.", claim, variant)]
