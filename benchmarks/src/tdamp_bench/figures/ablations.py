"""The paper's side claims, one thing changed at a time: Module B, rule for rho, noise, PasP; Boston and MNIST."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from ..ablations import pictures
from ..ablations.arms import PARTS, quick
from ..ablations.conclusions import conclusions
from . import draw, tidy
from .evaluation import evaluate
from .options import Options, WrongOption
from .plan import Plan
from .publish import publish

TITLE = "What each part contributes"

PLAN = Plan(
    name="ablations",
    whole=True,
    extra=("noise_var",),
    curves=tuple(curve for curves in PARTS.values() for curve in curves),
    epochs={"mnist": 20},
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is: one picture of all, and one for each part."""
    evaluation = evaluate(replace(PLAN, curves=quick()) if options.quick else PLAN, options, console)
    if not evaluation.cells:
        raise WrongOption("None of the chosen methods is for the chosen data. Leave out --data or --methods.")
    runs = tidy.table(evaluation.cells)
    points = tidy.summary(runs)
    folder = options.folder(PLAN.name)
    pictures.overview(tidy.final(points), evaluation.tasks, folder / PLAN.name)
    for part, panels in pictures.panels(points, evaluation.tasks).items():
        if panels:
            draw.figure(panels, folder / f"{PLAN.name}-{part}")
    publish(evaluation, points, conclusions(runs, evaluation.tasks), console)
