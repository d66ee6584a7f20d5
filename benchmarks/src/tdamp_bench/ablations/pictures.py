"""The pictures: one for each part, and one with the final losses of all arms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from ..core.jobs import n_keep
from ..core.plotting import plt, ticker
from ..figures import draw, tidy
from ..figures.tasks import Task
from .arms import FIXED_NOISE, HEADS, PARTS, PASP, RHO, SHARES, TURBO

Tasks = Mapping[str, Task]


def _scale(task: Task) -> float:
    return 100.0 if task.percent else 1.0


def _loss(task: Task) -> str:
    return f"{task.loss} (%)" if task.percent else task.loss


def panels(points: pd.DataFrame, tasks: Tasks) -> dict[str, list[draw.Panel]]:
    """Panels by part; `points` is `tidy.summary`."""
    by_part: dict[str, list[draw.Panel]] = {part: [] for part in PARTS}
    for data, task in tasks.items():
        here = tidy.pick(points, data=data)
        for keep in (1.0, 0.5):
            by_part["turbo"].append(_by_epoch(tidy.pick(here, keep=keep), task, TURBO, f"{task.title}, keep {keep:g}"))
        by_part["sparsity"].append(_by_units(here, task))
        by_part["noise"].append(_by_noise(here, task))
        by_part["pasp"].append(_by_epoch(here, task, PASP, task.title))
    return {part: [panel for panel in each if panel.lines] for part, each in by_part.items()}


def _by_epoch(points: pd.DataFrame, task: Task, curves: tuple, title: str) -> draw.Panel:
    labels = {curve.name: curve.label for curve in curves}
    return draw.Panel(title, "epoch", _loss(task), draw.lines(points, "epoch", labels, _scale(task)))


def _by_units(points: pd.DataFrame, task: Task) -> draw.Panel:
    labels = {curve.name: curve.label for curve in RHO}
    goals = [n_keep(task.widths, keep) for keep in SHARES]
    here = draw.lines(tidy.final(points), "units", labels, _scale(task))
    ticks = sorted([*goals, sum(task.widths[:-1])])
    return draw.Panel(
        f"{task.title}: targets {goals[0]} and {goals[1]}", "units left", _loss(task), here, x_ticks=ticks
    )


def _by_noise(points: pd.DataFrame, task: Task) -> draw.Panel:
    """Fixed values as a line; the learned noise is a level."""
    last = tidy.final(points).set_index("method")
    there = [value for value in FIXED_NOISE if f"noise_{value:g}" in last.index]
    fixed = last.loc[[f"noise_{value:g}" for value in there]]
    lines = []
    for name, label, rows in (("fixed", "fixed", fixed), ("learned", "learned", last[last.index == "learned"])):
        if len(rows) and there:
            mean, se = (np.resize(_scale(task) * rows[column].to_numpy(float), len(there)) for column in ("mean", "se"))
            lines.append(draw.Line(name, f"noise variance {label}", there, mean.tolist(), se.tolist()))
    return draw.Panel(task.title, "fixed noise variance", _loss(task), lines, log_x=True, x_ticks=there)


def overview(points: pd.DataFrame, tasks: Tasks, path: Path) -> None:
    """Final losses of all arms with one standard error, part by part, written as `path`.png and `path`.svg."""
    rows = _rows(points)
    with plt.rc_context({"svg.hashsalt": "tdamp", "font.size": 8}):
        height = 0.6 + 0.19 * (len(rows) + len(PARTS))
        drawing, axes = plt.subplots(
            1, len(tasks), figsize=(3.2 + 3.6 * len(tasks), height), squeeze=False, sharey=True
        )
        places = _places(rows)
        for axis, (data, task) in zip(axes[0], tasks.items(), strict=True):
            for row, y in zip(rows, places, strict=True):
                here = tidy.pick(points, data=data, method=row[1], keep=row[2])
                if len(here) and np.isfinite(here["mean"].item()):
                    mean, se = (_scale(task) * here[column].item() for column in ("mean", "se"))
                    color = f"C{list(PARTS).index(row[0])}"
                    axis.errorbar(mean, y, xerr=np.nan_to_num(se), fmt="o", ms=4, color=color, capsize=2)
            axis.set_xscale("log")
            axis.set_title(task.title, loc="left", fontweight="bold")
            axis.set_xlabel(_loss(task))
            axis.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
            axis.xaxis.set_minor_formatter(ticker.FuncFormatter(_some_minor))
            axis.grid(True, which="both", axis="x", alpha=0.2)
        axes[0][0].set_yticks(places, [row[3] for row in rows])
        axes[0][0].invert_yaxis()
        drawing.tight_layout()
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
        drawing.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        plt.close(drawing)


def _rows(points: pd.DataFrame) -> list[tuple[str, str, float, str]]:
    """Part, arm, share of units and label of every row there is."""
    seen = set(zip(points["method"], points["keep"], strict=True))
    return [
        (part, curve.name, keep, f"{HEADS[part]}: {curve.label}" + (f", keep {keep:g}" if keep < 1 else ""))
        for part, curves in PARTS.items()
        for keep in sorted({keep for curve in curves for keep in curve.keeps}, reverse=True)
        for curve in curves
        if (curve.name, keep) in seen
    ]


def _places(rows: list[tuple[str, str, float, str]]) -> list[float]:
    """Heights, with a gap between parts."""
    parts = list(dict.fromkeys(row[0] for row in rows))
    return [i + 1.0 * parts.index(row[0]) for i, row in enumerate(rows)]


def _some_minor(value: float, _: object) -> str:
    """Minor ticks that begin with 2 or 5 are written out."""
    return f"{value:g}" if f"{value:.0e}"[0] in "25" else ""
