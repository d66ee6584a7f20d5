"""Federated learning: final test loss against the share of units that remain, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, tidy
from .evaluation import evaluate
from .federated import LOOK, ROUNDS, Y_TOP, about, say_what_is_missing
from .options import Options
from .plan import Curve, Plan
from .publish import publish
from .sparsity import KEEPS

TITLE = "Federated: final test loss by share of units kept"

PLAN = Plan(
    name="federated-sparsity",
    extra=("bytes",),
    siblings=("federated-curves",),
    epochs=ROUNDS,
    curves=(
        # tdamp's own goes here, first in the legend: Curve(federated.OURS, keeps=KEEPS)
        *(Curve(name, keeps=KEEPS) for name in LOOK),
    ),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw everything there is."""
    found = evaluate(PLAN, options, console)
    points = tidy.final(tidy.summary(tidy.table(found.cells)))
    panels = [
        draw.Panel(
            task.title,
            "share of units kept",
            f"{task.loss} (%)" if task.percent else task.loss,
            draw.lines(tidy.pick(points, data=data), "keep", found.labels, 100.0 if task.percent else 1.0),
            log_x=True,
            x_ticks=sorted(tidy.pick(points, data=data)["keep"].unique()),
            y_top=Y_TOP[data],
        )
        for data, task in found.tasks.items()
    ]
    draw.figure(panels, options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **LOOK})
    say_what_is_missing(found, console)
    publish(found, points, [], console, about(found))
