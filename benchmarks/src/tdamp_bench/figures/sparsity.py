"""Final test loss against the share of units that remain, Boston and MNIST."""

from __future__ import annotations

from rich.console import Console

from . import draw, panels, tidy
from .evaluation import evaluate
from .methods import OURS
from .options import Options
from .paired import last_epoch
from .plan import Curve, Plan
from .publish import publish
from .sparsity_contest import against_each, conclusions, show

TITLE = "Final test loss by share of units kept"

METHODS = (
    "tdamp",
    "tdamp_paper",
    "amp",
    "adam",
    "early_stop",
    "group_lasso",
    "group_snip",
    "magnitude",
    "magnitude_adamw",
)
KEEPS = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
PLAN = Plan(
    name="sparsity",
    siblings=("curves",),
    curves=tuple(Curve(method, keeps=KEEPS) for method in METHODS),
)


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is."""
    evaluation = evaluate(PLAN, options, console)
    final = last_epoch(tidy.table(evaluation.cells))
    points = tidy.summary(final)
    draw.figure(panels.by_share(evaluation, points), options.folder(PLAN.name) / PLAN.name)
    contests = {variant: against_each(final, variant) for variant in OURS}
    show(console, contests["tdamp"], evaluation.labels)
    judged = [one for variant in OURS for one in conclusions(final, evaluation.labels, variant)]
    more = {f"{variant}_against_each": each.to_dict("records") for variant, each in contests.items()}
    publish(evaluation, points, judged, console, more)
