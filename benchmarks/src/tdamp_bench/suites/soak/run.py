"""The command `tdamp bench soak`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
from rich.console import Console

from tdamp.training.compilation import keep_compiled

from ...core import record
from ...core.progress import bar
from ...core.tables import grid, show_verdicts
from ...figures.publish import write_json
from . import configuration, figure, problem, streams, summary
from .plan import FULL, QUICK, Plan
from .store import Store

PARTS = "problems", "streams"


def run(
    only: Sequence[str] = PARTS,
    quick: bool = False,
    out: Path = Path("results/soak.json"),
    console: Console | None = None,
    plan: Plan | None = None,
) -> dict[str, Any]:
    """Run what the file of lines beside `out` does not hold yet, then the summary of all it holds; may be stopped."""
    console = console or Console()
    keep_compiled()
    plan = plan or (QUICK if quick else FULL)
    store = Store(out.with_suffix(".jsonl"), plan)
    if "problems" in only:
        _problems(store, plan, console)
    if "streams" in only:
        _streams(store, plan, console)
    report = _report(store, plan)
    write_json(out, report)
    figure.draw(store.problems, store.streams, out.with_suffix(".png"))
    show(console, report)
    console.print(f"Written: {out}, {out.with_suffix('.jsonl')} and {out.with_suffix('.png')}")
    return report


def _problems(store: Store, plan: Plan, console: Console) -> None:
    done = {(line["configuration"], line["problem"]) for line in store.problems}
    with bar(console, "problems", plan.configurations * plan.problems - len(done)) as tick:
        for index in range(plan.configurations):
            drawn = configuration.draw(index)
            for number in range(plan.problems):
                if (index, number) not in done:
                    store.add(problem.run(drawn, index, number, plan))
                    tick(f"configuration {index}")
            jax.clear_caches()  # no other configuration uses these programs, and they are large


def _streams(store: Store, plan: Plan, console: Console) -> None:
    done = {line["stream"] for line in store.streams}
    missing = [name for name in streams.KINDS if name not in done]
    snapshots = len({*range(plan.snapshot_every, plan.batches + 1, plan.snapshot_every), 1, plan.batches})
    with bar(console, "streams", len(missing) * snapshots) as tick:
        for name in missing:
            store.add(streams.run(name, plan, tick))


def _report(store: Store, plan: Plan) -> dict[str, Any]:
    problems = summary.of_problems(store.problems)
    of_streams = {line["stream"]: summary.of_stream(line) for line in store.streams}
    return {
        "benchmark": "soak",
        "surroundings": record.surroundings(),
        "plan": asdict(plan),
        "configurations": [asdict(configuration.draw(index)) for index in range(plan.configurations)],
        "problems": problems,
        "streams": of_streams,
        "verdicts": [verdict.to_dict() for verdict in summary.verdicts(problems, of_streams)],
    }


def show(console: Console, report: dict[str, Any]) -> None:
    """Outcomes, clips, streams, verdicts, and every fault."""
    problems = report["problems"]
    rows = [[name, str(count)] for name, count in sorted(problems["outcomes"].items())]
    console.print(grid(f"{problems['problems']} problems", ["outcome", "problems"], rows))
    rows = [
        [
            name,
            f"{clip['acted']:.1%}",
            *(f"{clip[key]:.2g}" for key in ("median_share", "median_share_where_acted", "most")),
        ]
        for name, clip in problems["clips"].items()
    ]
    columns = ["clip", "problems with it", "median share", "... where it acted", "most"]
    console.print(grid("Clips, as shares of the numbers looked at", columns, rows))
    rows = [
        [
            name,
            str(stream["batches"]),
            str(len(stream["faults"])),
            *(f"{stream[at]['log_score']:.2f}" for at in ("first", "last", "after_clean")),
            f"{stream['fresh_log_score']:.2f}",
            f"{stream['last']['doubt']:.1e}",
        ]
        for name, stream in report["streams"].items()
    ]
    columns = [
        "stream",
        "batches",
        "faults",
        "log score, first",
        "last",
        "after clean rows",
        "fresh model",
        "doubt left",
    ]
    console.print(grid("Streams", columns, rows))
    show_verdicts(console, report["verdicts"])
    for fault in problems["faults"]:
        console.print(f"configuration {fault['configuration']}, problem {fault['problem']}: {fault['faults']}")
