"""Federated learning: final test loss against the share of units that remain, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import LOOK, ROUNDS, about, say_what_is_missing
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
    draw.figure(panels.by_share(found, points), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **LOOK})
    say_what_is_missing(found, console)
    publish(found, points, [], console, about(found))
