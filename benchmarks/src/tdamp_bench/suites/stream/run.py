"""The command `tdamp bench stream`."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ...core import record
from ...core.progress import bar
from ...core.record import Verdict
from ...core.tables import grid, show_verdicts
from . import figure, probe
from .rows import NOISE, write

GROWTH = 1.1
"""Times the memory of the fewest rows that the most rows may take."""
ABOVE_NOISE = 1.05
"""Times the noise that the RMSE of the most rows may be."""


@dataclass(frozen=True)
class Plan:
    """Sizes; the fewest rows are also fitted in memory."""

    rows: tuple[int, ...] = (500_000, 1_000_000, 2_000_000, 5_000_000)
    inputs: int = 50
    hidden: tuple[int, ...] = (64, 64)
    epochs: int | str = 2
    test: int = 20_000


FULL = Plan()
QUICK = Plan(rows=(21_000, 25_000), inputs=5, hidden=(4,), epochs=1, test=100)
"""Checks that everything runs; its numbers and verdicts mean nothing."""


def run(
    quick: bool = False,
    out: Path = Path("results/stream.json"),
    folder: Path | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Make each file, fit it, remove it; then table and plot. `folder` takes the files, 3 GB at most."""
    console = console or Console()
    plan, where, fits = QUICK if quick else FULL, record.surroundings(), []
    jobs = [(plan.rows[0], "memory"), *((rows, "stream") for rows in plan.rows)]
    with bar(console, "stream", len(jobs)) as tick, tempfile.TemporaryDirectory(dir=folder) as inside:
        for rows, how in jobs:
            path = Path(inside) / f"{rows}.parquet"
            if not path.exists():
                write(path, rows, plan.inputs)
            asked = {"inputs": plan.inputs, "hidden": plan.hidden, "epochs": plan.epochs, "test": plan.test}
            fits.append(probe.ask(how=how, path=str(path), rows=rows, **asked))
            if how == "stream":
                path.unlink()
            tick(f"{rows:,} rows, {how}")
    body = {"plan": asdict(plan), "noise_std": NOISE, "fits": fits}
    report = record.save(out, "stream", {"stream": record.part(body, verdicts(fits), where)})["parts"]["stream"]
    figure.draw(fits, out.with_suffix(".png"))
    show(console, report)
    console.print(f"Written: {out} and {out.with_suffix('.png')}")
    return report


def verdicts(fits: list[dict[str, Any]]) -> list[Verdict]:
    """Memory does not grow, the noise is reached, and nothing is lost against a fit in memory."""
    memory, first, *_, last = fits
    return [
        Verdict("Peak memory of the most rows / of the fewest", last["peak_bytes"] / first["peak_bytes"], "<=", GROWTH),
        Verdict("RMSE of the most rows / noise", last["rmse"] / NOISE, "<=", ABOVE_NOISE),
        Verdict("RMSE of the fewest rows, from a source / in memory", first["rmse"] / memory["rmse"], "<=", 1.02),
    ]


def show(console: Console, report: dict[str, Any]) -> None:
    """A line for each fit, and the verdicts."""
    rows = [
        [
            f"{fit['rows']:,} rows, {'in memory' if fit['how'] == 'memory' else 'source'}",
            f"{fit['data_bytes'] / 2**20:,.0f}",
            f"{fit['peak_bytes'] / 2**20:,.0f}",
            f"{fit['before_bytes'] / 2**20:,.0f}",
            f"{fit['seconds']:.0f}",
            f"{1e6 * fit['seconds'] / fit['rows']:.0f}",
            f"{fit['epochs']}",
            f"{fit['rmse']:.4f}",
        ]
        for fit in report["fits"]
    ]
    columns = ["", "data, MB", "peak, MB", "before the fit, MB", "seconds", "a million rows", "epochs", "RMSE"]
    console.print(grid(f"Larger than memory; the noise is {report['noise_std']}", columns, rows))
    show_verdicts(console, report["verdicts"])
