"""Federated learning: final test loss against the share of units that remain, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import BASELINES, OURS, PRINTED, ROUNDS, STYLE_OF, about
from .federated_conclusions import best_conclusions, gap_conclusions
from .options import Options
from .plan import Curve, Plan
from .publish import publish

TITLE = "Federated: final test loss by share of units kept"
KEEPS = (1.0, 0.5, 0.3, 0.1)
"""Fewer than in the centralised figure: a run has ten clients."""

WHOLE = ("fedprox", "fedavg_adamw")
"""With all units only: pruned afterwards they are FedAvg pruned afterwards."""

PLAN = Plan(
    name="federated-sparsity",
    extra=("bytes",),
    siblings=("federated-curves",),
    epochs=ROUNDS,
    curves=(
        *(Curve(name, keeps=KEEPS) for name in (OURS, PRINTED, *BASELINES) if name not in WHOLE),
        *(Curve(name) for name in WHOLE),
    ),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw everything there is."""
    evaluation = evaluate(PLAN, options, console)
    runs = tidy.table(evaluation.cells)
    points = tidy.final(tidy.summary(runs))
    draw.figure(panels.by_share(evaluation, points), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **STYLE_OF})
    conclusions = []
    for ours in (OURS, PRINTED):
        conclusions += [*best_conclusions(evaluation, points, runs, ours), *gap_conclusions(evaluation, points, ours)]
    publish(evaluation, points, conclusions, console, about(evaluation))
