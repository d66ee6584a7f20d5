"""Training curves of federated learning: test loss by round, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .federated import OURS, PRINTED, ROUNDS, SMALL, STYLE_OF, about, small
from .federated_conclusions import SMALL_RIVAL as LASSO
from .federated_conclusions import curve_conclusions
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
        Curve(OURS),
        Curve(PRINTED),
        Curve(OURS, keeps=(SMALL,), name=small(OURS), label=f"tdamp, {SMALL:g} of the units"),
        Curve("fedavg_adam"),
        Curve("fedavg_adamw"),
        Curve("fedprox"),
        Curve(LASSO),
        Curve(LASSO, keeps=(SMALL,), name=small(LASSO), label=f"FedAvg + group lasso, {SMALL:g} of the units"),
        # with all units it would be Adam
        Curve("fedavg_group_snip", keeps=(0.5,), label="FedAvg + group SNIP, half of the units"),
    ),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw everything there is."""
    evaluation = evaluate(PLAN, options, console)
    points = tidy.summary(tidy.table(evaluation.cells))
    draw.figure(
        panels.by_epoch(evaluation, points, "round"), options.folder(PLAN.name) / PLAN.name, {**draw.STYLES, **STYLE_OF}
    )
    conclusions = [conclusion for ours in (OURS, PRINTED) for conclusion in curve_conclusions(evaluation, points, ours)]
    publish(evaluation, points, conclusions, console, about(evaluation))
