"""Federated learning: final test loss against the share of units that remain, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import BASELINES, LOOK, OURS, ROUNDS, about
from .federated_findings import best_findings, gap_findings
from .options import Options
from .plan import Curve, Plan
from .publish import publish

TITLE = "Federated: final test loss by share of units kept"
KEEPS = (1.0, 0.5, 0.3, 0.1)
"""Fewer than in the centralised figure: a run has ten clients."""

PLAN = Plan(
    name="federated-sparsity",
    extra=("bytes",),
    siblings=("federated-curves",),
    epochs=ROUNDS,
    curves=(
        *(Curve(name, keeps=KEEPS) for name in (OURS, *BASELINES) if name != "fedprox"),
        Curve("fedprox"),  # pruned afterwards it is FedAvg pruned afterwards
    ),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw everything there is."""
    found = evaluate(PLAN, options, console)
    points = tidy.final(tidy.summary(tidy.table(found.cells)))
    draw.figure(panels.by_share(found, points), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **LOOK})
    findings = [*best_findings(found, points, OURS), *gap_findings(found, points, OURS)]
    publish(found, points, findings, console, about(found))
