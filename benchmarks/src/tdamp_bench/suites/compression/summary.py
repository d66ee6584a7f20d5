"""From runs to numbers: means with standard errors for every arm and size, and who is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.record import Verdict
from ...figures.paired import Gap, gap
from ...figures.store import Done
from .contest import Cell, Contest
from .ours import ByTotal
from .outcome import SIZES
from .published import points_of

OURS = ByTotal.name
Row = dict[str, Any]
"""Of an arm at one size, for the JSON file."""


def rows(contest: Contest, cells: Sequence[Cell]) -> list[Row]:
    """Of the cells that have test runs."""
    table = []
    for cell in cells:
        runs = contest.runs(cell)
        if runs:
            choice = contest.choice(cell)
            where = {"task": cell.task.name, "title": cell.task.title, "loss_is": cell.task.loss, "keep": cell.keep}
            arm = {"arm": cell.arm.name, "label": cell.arm.label, "seeds": [run.key.seed for run in runs]}
            tuned = {"config": choice.config, "validation_losses": choice.losses} if choice else {}
            table.append(where | arm | _numbers(runs) | tuned)
    return table


def _numbers(runs: Sequence[Done]) -> Row:
    values: dict[str, list[float]] = {"loss": [run.loss[-1] for run in runs], "units": [run.units for run in runs]}
    values |= {name: [run.extra[name][0] for run in runs] for name in ("nll", *SIZES)}
    values |= {"seconds": [run.seconds for run in runs]}
    scores = {name: {"mean": float(np.mean(some)), "se": _se(some), "runs": some} for name, some in values.items()}
    return scores | {"widths": [[int(width) for width in run.extra["widths"]] for run in runs]}


def _se(values: Sequence[float]) -> float:
    known = len(values) > 1 and np.isfinite(values).all()
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if known else float("nan")


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """At every size: tdamp's loss below that of each rival, over the seeds both have, and the published one."""
    judged = []
    for ours in (row for row in rows if row["arm"] == OURS):
        here = [row for row in rows if (row["task"], row["keep"]) == (ours["task"], ours["keep"])]
        title = f"{ours['title']}, {ours['units']['mean']:.0f} units"
        for rival in here:
            apart = None if rival["arm"].startswith(OURS) else between(ours, rival)
            if apart is not None:
                claim = f"{title}: {ours['loss_is']} below that of {rival['label']}"
                judged.append(apart.verdict(claim))
        for point in points_of(ours["task"]):
            if point.units == round(ours["units"]["mean"]):
                claim = f"{title}: error at most that of {point.name}, published"
                judged.append(Verdict(claim, ours["loss"]["mean"], "<=", point.error))
    return judged


def between(ours: Row, theirs: Row) -> Gap | None:
    """Ours against theirs, over the seeds that both have; None where there are none."""
    losses = [dict(zip(row["seeds"], row["loss"]["runs"], strict=True)) for row in (ours, theirs)]
    seeds = [seed for seed in losses[0] if seed in losses[1]]
    return gap(*([known[seed] for seed in seeds] for known in losses)) if seeds else None
