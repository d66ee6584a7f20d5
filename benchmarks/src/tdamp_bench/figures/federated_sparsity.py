"""Federated learning: final test loss against the share of units that remain, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import BASELINES, LOOK, OURS, PRINTED, ROUNDS, about
from .federated_findings import best_findings, gap_findings
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
    found = evaluate(PLAN, options, console)
    runs = tidy.table(found.cells)
    points = tidy.final(tidy.summary(runs))
    draw.figure(panels.by_share(found, points), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **LOOK})
    findings = []
    for ours in (OURS, PRINTED):
        findings += [*best_findings(found, points, runs, ours), *gap_findings(found, points, ours)]
    publish(found, points, findings, console, about(found))
