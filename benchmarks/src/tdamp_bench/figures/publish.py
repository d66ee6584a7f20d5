"""What a figure leaves behind beside its picture: the summary as CSV, and how it came about as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from ..core import record
from ..core.record import Verdict
from ..core.tables import show_verdicts
from . import tidy
from .evaluation import Evaluation
from .store import Store
from .tuning import BUDGET


@dataclass(frozen=True)
class Conclusion:
    """A claim with the number that decides it, and the same as a sentence for people."""

    verdict: Verdict
    sentence: str
    claim: str = ""
    """The paper's claim that it bears on, for the page of results."""
    variant: str = "tdamp"
    """Whose: tdamp's, or that of the method as printed."""

    def to_dict(self) -> dict[str, Any]:
        """For the JSON file."""
        return self.verdict.to_dict() | {"sentence": self.sentence, "claim": self.claim, "variant": self.variant}


def publish(
    evaluation: Evaluation,
    points: pd.DataFrame,
    conclusions: Sequence[Conclusion],
    console: Console,
    more: dict[str, Any] | None = None,
) -> None:
    """Write the CSV and the JSON file, and say what was found; `more` is added to the JSON file."""
    folder, name = evaluation.options.folder(evaluation.plan.name), evaluation.plan.name
    body = {
        "figure": name,
        "quick": evaluation.options.quick,
        "surroundings": surroundings(folder / f"{name}.json", evaluation.n_new),
        "tasks": {
            data: {"widths": task.widths, "batch": task.batch, "epochs": task.epochs}
            for data, task in evaluation.tasks.items()
        },
        "budget": BUDGET,
        "cells": choices(evaluation),
        "seconds": seconds(evaluation.store),
        **(more or {}),
    }
    announce(folder, name, body, points, conclusions, console)


def announce(
    folder: Path,
    name: str,
    body: dict[str, Any],
    points: pd.DataFrame,
    conclusions: Sequence[Conclusion],
    console: Console,
) -> None:
    """Write the CSV and the JSON file, whose last entry are the conclusions, and say what was found."""
    tidy.save(points, folder / f"{name}.csv")
    write_json(folder / f"{name}.json", body | {"verdicts": [conclusion.to_dict() for conclusion in conclusions]})
    show_verdicts(console, [conclusion.verdict.to_dict() for conclusion in conclusions])
    for conclusion in conclusions:
        console.print(conclusion.sentence, highlight=False, soft_wrap=True)
    console.print(f"Written: {folder / name}.csv, .json, .png and .svg", highlight=False, soft_wrap=True)


def choices(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For every cell: the configuration chosen, its validation loss, and those of all candidates."""
    rows = []
    for cell in evaluation.cells:
        if cell.choice is None:
            continue
        grid = [{"config": json.loads(config), "loss": loss} for config, loss in cell.choice.losses.items()]
        rows.append(
            {"data": cell.data, "method": cell.curve.title, "keep": cell.keep, "seeds": len(cell.runs)}
            | {"config": cell.choice.config, "validation_loss": cell.choice.loss, "grid": grid}
        )
    return rows


def seconds(store: Store) -> dict[str, dict[str, dict[str, float]]]:
    """Seconds spent by data set, method and role, over all of its runs."""
    spent: dict[str, dict[str, dict[str, float]]] = {}
    for key, run in store.done.items():
        roles = spent.setdefault(key.data, {}).setdefault(key.method, {})
        roles[key.role] = roles.get(key.role, 0.0) + run.seconds
    return spent


def surroundings(path: Path, n_new: int) -> dict[str, Any]:
    """Versions and machine of the latest runs: those of the earlier file where nothing has been run since."""
    if n_new == 0 and path.exists():
        return json.loads(path.read_text())["surroundings"]
    return record.surroundings()


def write_json(path: Path, body: Any) -> None:
    """Numbers to six digits, infinity as "inf", NaN as null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_legal(body), indent=1, allow_nan=False) + "\n")


def _legal(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _legal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_legal(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return _legal(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return value
