"""What the two federated figures share: rounds, looks, and what they have to say about themselves."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from .draw import STYLES
from .evaluation import Evaluation

CLIENTS = {"boston": 4, "mnist": 10}
LOCAL_EPOCHS = 10
"""Both as in the paper."""
ROUNDS = {"boston": 40, "mnist": 20}
"""400 steps of a Boston client, as many as in the centralised figures; 12,000 of an MNIST client, there 18,000."""
LOOK = {
    "fedavg_adam": STYLES["adam"],
    "fedprox": STYLES["early_stop"],
    "fedavg_group_lasso": STYLES["group_lasso"],
    "fedavg_group_snip": STYLES["group_snip"],
}
"""As the same optimiser looks in the centralised figures."""
OURS = "tdamp_federated"
"""The name that tdamp's curve will have here."""
NOT_YET = "tdamp's federated curve is not in this figure yet: it shows the baselines alone, and no claim is judged."


def about(found: Evaluation) -> dict[str, Any]:
    """For the JSON file: how the federation is made, what a round costs, and what is missing."""
    federation = {data: {"clients": CLIENTS[data], "local_epochs": LOCAL_EPOCHS} for data in found.tasks}
    there = any(cell.curve.method == OURS for cell in found.cells)
    return {"federation": federation, "bytes_per_round": bytes_per_round(found), "missing": [] if there else [NOT_YET]}


def say_what_is_missing(found: Evaluation, console: Console) -> None:
    """For people."""
    for sentence in about(found)["missing"]:
        console.print(sentence, highlight=False, soft_wrap=True)


def bytes_per_round(found: Evaluation) -> list[dict[str, Any]]:
    """Mean over runs and rounds of what all clients send and receive, for every cell that says so."""
    rows = []
    for cell in found.cells:
        each = [value for run in cell.runs for value in run.extra.get("bytes", [])]
        if each:
            name = {"data": cell.data, "method": cell.curve.title, "keep": cell.keep}
            rows.append(name | {"bytes": sum(each) / len(each)})
    return rows
