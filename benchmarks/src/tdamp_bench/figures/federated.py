"""What the two federated figures share: rounds, styles and notes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .draw import STYLES
from .evaluation import Evaluation

CLIENTS = {"boston": 4, "mnist": 10}
LOCAL_EPOCHS = 10
"""Both as in the paper."""
ROUNDS = {"boston": 40, "mnist": 20}
"""400 steps of a Boston client, as many as in the centralised figures; 12,000 of an MNIST client, there 18,000."""
OURS, PRINTED = "tdamp_federated", "tdamp_federated_paper"
"""tdamp's curves: as recommended, and Algorithm 2 as printed."""
VARIANT = {PRINTED: "tdamp_paper"}
"""What conclusions call the variant of a curve, where it is not "tdamp"."""
SMALL = 0.3
"""Share of the units at which curves are drawn besides those of all units."""
BASELINES = ("fedavg_adam", "fedavg_adamw", "fedprox", "fedavg_group_lasso", "fedavg_group_snip")
RIVALS = {
    "federated": ("the paper's baselines", ("fedavg_adam", "fedavg_group_lasso", "fedavg_group_snip")),
    "strong-federated": ("the stronger rivals", ("fedavg_adamw", "fedprox")),
    "": ("tdamp's other averages", ("tdamp_sites", "tdamp_waa")),
}
"""Whom final losses are compared with, by the claim that it bears on. With skewed labels a baseline's name ends so."""
SKEWED = "_skewed"
STYLE_OF = {
    OURS: STYLES["tdamp"],
    PRINTED: STYLES["tdamp_paper"],
    "tdamp_skewed": STYLES["tdamp"],
    "tdamp_sites": STYLES["tdamp_paper"],
    "tdamp_waa": STYLES["amp"],
    "fedavg_adam": STYLES["adam"],
    "fedavg_adamw": STYLES["adamw"],
    "fedavg_adam_skewed": STYLES["adam"],
    "fedavg_adamw_skewed": STYLES["adamw"],
    "fedprox": STYLES["early_stop"],
    "fedprox_skewed": STYLES["early_stop"],
    "fedavg_group_lasso": STYLES["group_lasso"],
    "fedavg_group_snip": STYLES["group_snip"],
    "tdamp_federated_small": replace(STYLES["tdamp"], dashes=(0, (1, 1))),
    "fedavg_group_lasso_small": replace(STYLES["group_lasso"], dashes=(0, (1, 1))),
}
"""Styles of the same optimiser in the centralised figures."""


def small(name: str) -> str:
    """What the curves' figure calls a method that keeps SMALL of the units."""
    return f"{name}_small"


def about(evaluation: Evaluation) -> dict[str, Any]:
    """For the JSON file: how the federation is made, and what a round costs."""
    federation = {data: {"clients": CLIENTS[data], "local_epochs": LOCAL_EPOCHS} for data in evaluation.tasks}
    return {"federation": federation, "bytes_per_round": bytes_per_round(evaluation)}


def bytes_per_round(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Mean over runs and rounds of what all clients send and receive, for every cell that says so."""
    rows = []
    for cell in evaluation.cells:
        each = [value for run in cell.runs for value in run.extra.get("bytes", [])]
        if each:
            name = {"data": cell.data, "method": cell.curve.title, "keep": cell.keep}
            rows.append(name | {"bytes": sum(each) / len(each)})
    return rows
