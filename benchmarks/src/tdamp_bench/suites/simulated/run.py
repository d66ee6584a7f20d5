"""The command `tdamp bench simulated`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from tdamp.io.atomic import PART, rename_whole

from ...core import record
from ...core.progress import bar
from ...core.tables import grid, show_verdicts
from ...figures.publish import write_json
from . import figure, ratio
from .draws import FULL, QUICK, Plan, measure


def run(
    draws: int | None = None,
    quick: bool = False,
    out: Path = Path("results/simulated.json"),
    console: Console | None = None,
) -> dict[str, Any]:
    """Fit the draws that the file does not hold yet, then table and plot of all it holds; may be interrupted."""
    console = console or Console()
    plan = QUICK if quick else FULL
    report = _known(out, plan)
    known = report["draws"]
    missing = [seed for seed in range(plan.draws if draws is None else draws) if str(seed) not in known]
    if missing:
        report["surroundings"] = record.surroundings()
    with bar(console, "simulated", len(missing)) as tick:
        for seed in missing:
            known[str(seed)] = measure(seed, plan)
            _write(out, report)
            tick(f"draw {seed}")
    done = [known[seed] for seed in sorted(known, key=int)]
    summarised = ratio.summary(done, plan.noise)
    report |= {"summary": summarised, "verdicts": [verdict.to_dict() for verdict in ratio.verdicts(summarised)]}
    _write(out, report)
    figure.draw(done, summarised, out.with_suffix(".png"))
    show(console, report)
    console.print(f"Written: {out} and {out.with_suffix('.png')}")
    return report


def show(console: Console, report: dict[str, Any]) -> None:
    """The numbers, the ratio by noise, and the verdicts."""
    summarised = report["summary"]
    low, high = summarised["quartiles"]
    rows = [
        ["epistemic variance / squared error", f"{summarised['ratio']:.3f} ± {summarised['ratio_standard_error']:.3f}"],
        ["of each draw, median (quartiles)", f"{summarised['median_ratio']:.2f} ({low:.2f} to {high:.2f})"],
        ["variance / squared error, noisy targets", f"{summarised['total_ratio']:.3f}"],
        ["learned / true noise variance, median", f"{summarised['noise_ratio']:.3f}"],
        ["coverage of 95 % intervals", f"{summarised['coverage']:.1%} ± {summarised['coverage_standard_error']:.1%}"],
    ]
    console.print(grid(f"Data drawn from the model, {summarised['draws']} draws", ["", ""], rows))
    rows = [
        [
            f"{part['from']:.2f} to {part['to']:.2f}",
            str(part["draws"]),
            f"{part['ratio']:.2f}",
            f"{part['noise_ratio']:.2f}",
            f"{part['coverage']:.1%}",
            f"{part['squared_error']:.4f}",
        ]
        for part in summarised["by_noise"]
    ]
    columns = ["noise std / function's", "draws", "ratio", "noise ratio", "coverage", "squared error / variance"]
    console.print(grid("By the noise", columns, rows))
    show_verdicts(console, report["verdicts"])


def _known(out: Path, plan: Plan) -> dict[str, Any]:
    """The file, or the beginning of one."""
    kind = {"benchmark": "simulated", "plan": str(plan)}
    if not out.exists():
        return kind | {"draws": {}}
    report = json.loads(out.read_text())
    if {key: report.get(key) for key in kind} != kind:
        raise ValueError(f"{out} holds draws of another plan: choose another --out")
    return report


def _write(out: Path, report: dict[str, Any]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(out.name + PART)
    write_json(part, report)
    rename_whole(part, out)
