"""Training curves of federated learning: test loss by round, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import LOOK, OURS, ROUNDS, about
from .federated_findings import curve_findings
from .options import Options
from .plan import Curve, Plan
from .publish import publish

TITLE = "Federated: test loss by round"

PLAN = Plan(
    name="federated-curves",
    whole=True,
    extra=("bytes",),
    siblings=("federated-sparsity",),
    epochs=ROUNDS,
    curves=(
        Curve(OURS, keeps=(1.0, 0.3)),
        Curve("fedavg_adam"),
        Curve("fedprox"),
        Curve("fedavg_group_lasso", keeps=(1.0, 0.3)),
        # with all units it would be Adam
        Curve("fedavg_group_snip", keeps=(0.5,), label="FedAvg + group SNIP, half of the units"),
    ),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw everything there is."""
    found = evaluate(PLAN, options, console)
    points = tidy.summary(tidy.table(found.cells))
    draw.figure(panels.by_epoch(found, points, "round"), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **LOOK})
    publish(found, points, curve_findings(found, points, OURS), console, about(found))
