"""The command `tdamp bench growth`."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

from rich.console import Console

from ...core import presets, record
from ...core.progress import bar
from ...core.tables import grid, show_verdicts
from ...figures.publish import write_json
from ...methods.baselines import gemm
from . import epochs, figure, law
from .plan import FULL, QUICK


def run(quick: bool = False, out: Path = Path("results/growth.json"), console: Console | None = None) -> dict[str, Any]:
    """Time all series in turn, fit the laws, write and show them."""
    console = console or Console()
    plan = QUICK if quick else FULL
    where = record.surroundings() | {"quick": quick}
    settings = presets.replace(presets.MNIST, batch_size=plan.batch)
    x, y = epochs.digits(plan)
    timed = [epochs.Timed(case, settings, x, y) for case in epochs.cases_of(plan)]
    with bar(console, "growth", len(timed) * (plan.warmup + plan.repeats)) as tick:
        seconds, products = epochs.interleaved(timed, plan, tick)
    rates = reduce(gemm.better, products)
    series: dict[str, list[dict[str, Any]]] = {name: [] for name in law.SIZES}
    for one, taken in zip(timed, seconds, strict=True):
        series[one.case.series].append(epochs.measured(one, taken, rates["rate"]))
    laws = {name: law.of(name, points) for name, points in series.items()}
    report = {
        "benchmark": "growth",
        "surroundings": where,
        "plan": str(plan),
        "settings": str(settings),
        "data": "random rows of MNIST's shape",
        "gemm": rates,
        "gemm_by_round": [product["rate"] for product in products],
        "series": series,
        "laws": laws,
        "verdicts": [verdict.to_dict() for verdict in law.verdicts(laws)],
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    write_json(out, report)
    figure.draw(report, out.with_suffix(".png"))
    show(console, report)
    console.print(f"Written: {out} and {out.with_suffix('.png')}")
    return report


def show(console: Console, report: dict[str, Any]) -> None:
    """Every point, the laws and the verdicts."""
    for name, points in report["series"].items():
        rows = [
            [
                f"{point['at']:g}",
                "-".join(map(str, point["widths"])) if len(point["widths"]) < 6 else "...",
                str(point["rows"]),
                f"{point['median']:.4f}",
                f"{point['least']:.4f}",
                f"{point['roofline_share']:.2f}",
            ]
            for point in points
        ]
        columns = [name, "widths", "rows", "median s", "least s", "share of roofline"]
        console.print(grid(f"Seconds per epoch against {figure.LABELS[name]}", columns, rows))
    rows = [
        [
            name,
            law["size"],
            *(f"{law[by]['exponent']:.3f} ± {law[by]['standard_error']:.3f}" for by in ("by_median", "by_minimum")),
            "" if law["by_weights"] is None else f"{law['by_weights']['exponent']:.3f}",
            f"{law['roofline_share']:.2f}",
        ]
        for name, law in report["laws"].items()
    ]
    columns = ["series", "against", "exponent, medians", "exponent, minima", "against weights", "roofline, largest"]
    console.print(grid("Power laws of the largest sizes", columns, rows))
    show_verdicts(console, report["verdicts"])
