"""Pictures that the centralised and the federated figures share: loss by epoch, and loss by share of units."""

from __future__ import annotations

import pandas as pd

from .draw import Line, Panel, lines
from .evaluation import Evaluation
from .tasks import Task
from .tidy import pick

Y_TOP = {"boston": 2.0, "mnist": 100.0}


def by_epoch(evaluation: Evaluation, points: pd.DataFrame, x_label: str = "epoch") -> list[Panel]:
    """A panel for each data set: loss by epoch, or by round."""
    return [
        Panel(task.title, x_label, _label(task), _lines(evaluation, points, data, "epoch"), y_top=Y_TOP[data])
        for data, task in evaluation.tasks.items()
    ]


def by_share(evaluation: Evaluation, points: pd.DataFrame) -> list[Panel]:
    """A panel for each data set: final loss by the share of units that are left, which may be more than asked for."""
    points = points.assign(share=points["units"] / points.groupby("data")["units"].transform("max"))
    return [
        Panel(
            task.title,
            "share of units kept",
            _label(task),
            _lines(evaluation, points, data, "share"),
            log_x=True,
            x_ticks=sorted(pick(points, data=data)["keep"].unique()),
            y_top=Y_TOP[data],
        )
        for data, task in evaluation.tasks.items()
    ]


def _label(task: Task) -> str:
    return f"{task.loss} (%)" if task.percent else task.loss


def _lines(evaluation: Evaluation, points: pd.DataFrame, data: str, x: str) -> list[Line]:
    return lines(pick(points, data=data), x, evaluation.labels, 100.0 if evaluation.tasks[data].percent else 1.0)
