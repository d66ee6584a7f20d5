"""The command `tdamp bench pruning`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tdamp.training.compilation import keep_compiled

from ...core import record
from ...core.lines import Lines
from ...core.progress import bar
from ...core.tables import grid, section, show_verdicts, verdict_text, verdict_word
from ...figures.publish import write_json
from . import figure, summary, trial
from .tables import TABLES

SEEDS = 3
QUICK_TABLES, QUICK_ROWS, QUICK_EPOCHS = ("friedman", "moons"), 200, 5
COLUMNS = [
    "", "all units", "keep 0.3", "lost", "most lost", "warned", "auto", "auto leaves", "auto loses, std. errors",
]  # fmt: skip


def run(
    only: Sequence[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    out: Path = Path("results/pruning.json"),
    console: Console | None = None,
) -> dict[str, Any]:
    """Run what the file of lines beside `out` lacks, then table and plot of all it holds; may be interrupted."""
    console = console or Console()
    keep_compiled()
    store = Lines(out.with_suffix(".jsonl"), {"benchmark": "pruning", "quick": quick})
    done = {(line["table"], line["seed"]) for line in store.lines}
    names = only or (QUICK_TABLES if quick else tuple(TABLES))
    asked = [(name, seed) for seed in range(seeds or (1 if quick else SEEDS)) for name in names]
    missing = [each for each in asked if each not in done]
    how: dict[str, Any] = {"rows": QUICK_ROWS, "epochs": QUICK_EPOCHS} if quick else {}
    with bar(console, "pruning", len(missing)) as tick:
        for name, seed in missing:
            store.add(trial.run(TABLES[name], seed, **how))
            tick(f"{name}, seed {seed}")
    report = _report(store.lines, quick)
    write_json(out, report)
    figure.draw(store.lines, out.with_suffix(".png"))
    console.print(grid("Pruning on tables", COLUMNS, rows(report)))
    show_verdicts(console, report["verdicts"])
    console.print(f"Written: {out}, {out.with_suffix('.jsonl')} and {out.with_suffix('.png')}")
    return report


def _report(lines: list[dict[str, Any]], quick: bool) -> dict[str, Any]:
    place = list(TABLES).index
    lines = sorted(lines, key=lambda line: (place(line["table"]), line["seed"]))
    return {
        "benchmark": "pruning",
        "quick": quick,
        "surroundings": record.surroundings(),
        "tables": summary.tables(lines),
        "verdicts": [verdict.to_dict() for verdict in summary.verdicts(lines)],
        "trials": lines,
    }


def rows(report: dict[str, Any]) -> list[list[str]]:
    """A line for each table, as text."""
    return [
        [
            row["table"],
            *(f"{row[name]:.3f}" for name in ("full", "pruned", "lost", "most_lost")),
            f"{row['warned']} of {row['trials']}",
            f"{row['auto']:.3f}",
            f"{row['auto_share']:.0%}",
            f"{row['auto_errors']:.1f}",
        ]
        for row in report["tables"]
    ]


def block(report: dict[str, Any]) -> str:
    """Table and verdicts for the documentation."""
    lines = section("R2 or accuracy on test rows, means of the seeds", COLUMNS, rows(report))
    lines += [f"- {verdict_word(one)}: {verdict_text(one)}" for one in report["verdicts"]]
    return "\n".join(lines)
