"""Federated learning where clients have few of the classes, and which average to take: MNIST, loss by round."""

from __future__ import annotations

from rich.console import Console

from ..methods.tdamp_federated import OTHERS
from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import ROUNDS, STYLE_OF, about
from .federated_conclusions import best_conclusions
from .options import Options
from .plan import Curve, Plan
from .publish import publish

TITLE = "Federated, labels skewed by Dirichlet(0.1): test loss by round"
DATA = ("mnist",)
OURS = "tdamp_skewed"

PLAN = Plan(
    name="federated-skew",
    whole=True,
    extra=("bytes",),
    epochs=ROUNDS,
    curves=(
        Curve(OURS, data=DATA, label="tdamp, geometric average"),
        *(
            Curve(OURS, data=DATA, config=config, name=f"tdamp_{name}", label=f"tdamp, {label}")
            for name, (label, config) in OTHERS.items()
        ),
        Curve("fedavg_adam_skewed", data=DATA),
        Curve("fedavg_adamw_skewed", data=DATA),
        Curve("fedprox_skewed", data=DATA),
    ),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw everything there is."""
    evaluation = evaluate(PLAN, options, console)
    runs = tidy.table(evaluation.cells)
    points = tidy.summary(runs)
    draw.figure(
        panels.by_epoch(evaluation, points, "round"), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **STYLE_OF}
    )
    publish(
        evaluation, points, best_conclusions(evaluation, tidy.final(points), runs, OURS), console, about(evaluation)
    )
