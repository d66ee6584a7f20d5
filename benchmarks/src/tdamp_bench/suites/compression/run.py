"""The command `tdamp bench compression`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tdamp.training.compilation import keep_compiled

from ...figures.publish import surroundings, write_json
from ...figures.store import Store
from ...figures.waiting import waiting
from . import figure, summary, table, tasks
from .contest import Cell, Contest
from .published import POINTS

SEEDS = 3


def run(
    only: Sequence[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    out: Path = Path("results/compression.json"),
    console: Console | None = None,
) -> dict[str, Any]:
    """Run what the file of lines beside `out` lacks, then tables and plots of all it holds; may be interrupted.

    `only` names parts or single tasks; seeds are 0 to `seeds` - 1.
    """
    console = console or Console()
    keep_compiled()
    names = asked(only, quick)
    if any(name in tasks.PARTS["tables"] for name in names):
        importlib.import_module("...methods.baselines.lightgbm_trees", __package__)
    contest = Contest(Store(out.with_suffix(".jsonl")), quick)
    cells = _cells(contest, names)
    numbers = range(seeds or (1 if quick else SEEDS))
    with waiting(console, "compression", len(cells) * len(numbers)) as tick:
        for cell in cells:
            contest.fill(cell, numbers, tick)
    report = _report(contest, out)
    write_json(out, report)
    written = [out, *figure.draw(report["rows"], out.with_suffix(".png")), out.with_suffix(".md")]
    out.with_suffix(".md").write_text(table.page(report))
    table.show(console, report)
    console.print(f"Written: {', '.join(map(str, written))}", highlight=False, soft_wrap=True)
    return report


def asked(only: Sequence[str] | None, quick: bool) -> list[str]:
    """Names of tasks, each once; all by default, a few of them in a quick run."""
    parts = tasks.QUICK if quick else tasks.PARTS
    return list(dict.fromkeys(name for one in only or parts for name in parts.get(one, (one,))))


def _cells(contest: Contest, names: Sequence[str]) -> list[Cell]:
    return [cell for name in names for cell in contest.cells(tasks.task_of(name, contest.quick))]


def _report(contest: Contest, out: Path) -> dict[str, Any]:
    """Of all tasks that have runs, in the order of the parts."""
    known = {key.data for key in contest.store.done}
    there = [name for names in tasks.PARTS.values() for name in names if name in known]
    rows = summary.rows(contest, _cells(contest, there))
    return {
        "benchmark": "compression",
        "quick": contest.quick,
        "surroundings": surroundings(out, contest.n_new),
        "published": [point._asdict() | {"units": point.units} for point in POINTS],
        "epochs": tasks.EPOCHS,
        "rows": rows,
        "verdicts": [verdict.to_dict() for verdict in summary.verdicts(rows)],
    }
