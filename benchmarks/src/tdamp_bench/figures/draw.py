"""The style of the figures: one colour a method everywhere, mean lines with a band of one standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..core.plotting import plt, ticker


@dataclass(frozen=True)
class Style:
    """Colour, dashes and marker: no two lines differ by colour alone."""

    color: str
    dashes: str | tuple = "-"
    marker: str = "o"
    width: float = 1.4


STYLES = {
    "tdamp": Style("#0072B2", "-", "o", 2.4),
    "tdamp_paper": Style("#56B4E9", "--", "o"),
    "amp": Style("#CC79A7", "-.", "v"),
    "adam": Style("#000000", "-", "s"),
    "early_stop": Style("#7F7F7F", "--", "s"),
    "group_lasso": Style("#E69F00", "-", "D"),
    "group_snip": Style("#009E73", "-.", "^"),
    "magnitude": Style("#D55E00", (0, (3, 1)), "P"),
    "adamw": Style("#882255", ":", "*"),
    "magnitude_adamw": Style("#882255", (0, (1, 1)), "X"),
}
"""Colours of Okabe and Ito, which people with any colour vision tell apart, without their yellow, and Tol's wine."""
SPARE = [Style(style.color, style.dashes, marker) for style, marker in zip(STYLES.values(), "ovsDXP*<", strict=False)]
"""For curves that are no method of the list, in their order."""


@dataclass(frozen=True)
class Line:
    """A curve with its standard error, None where there is none."""

    name: str
    label: str
    x: Sequence[float]
    mean: Sequence[float]
    se: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes; `x_ticks` also puts a marker on every point."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = True
    x_ticks: Sequence[float] | None = None
    y_top: float | None = None
    """The axis ends here at the latest: a training that blows up must not flatten the others."""


def lines(points: pd.DataFrame, x: str, labels: Mapping[str, str], scale: float = 1.0) -> list[Line]:
    """A line for each method of a summary, in the order of `labels`, over the column `x`."""
    drawn = []
    for name, label in labels.items():
        here = points[points["method"] == name].sort_values(x)
        if len(here):
            mean, se = (scale * here[column].to_numpy(float) for column in ("mean", "se"))
            drawn.append(Line(name, label, here[x].tolist(), mean.tolist(), se.tolist()))
    return drawn


def figure(panels: Sequence[Panel], path: Path, styles: Mapping[str, Style] = STYLES) -> None:
    """Panels side by side over one legend, written as `path`.png and `path`.svg."""
    # the salt and the missing date make the same drawing the same file
    with plt.rc_context(
        {"svg.hashsalt": "tdamp", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    ):
        drawing, axes = plt.subplots(1, len(panels), figsize=(5.2 * len(panels), 4.6), squeeze=False)
        handles: dict[str, Any] = {}
        names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
        spare = iter(SPARE * len(names))
        chosen = {name: styles[name] if name in styles else next(spare) for name in names}
        for axis, panel in zip(axes[0], panels, strict=True):
            for line in panel.lines:
                handles.setdefault(line.label, _draw_line(axis, line, chosen[line.name], panel.x_ticks is not None))
            _dress(axis, panel)
        columns = min(2 * len(panels), max(1, len(handles)))
        rows = -(-len(handles) // columns)
        drawing.legend(
            handles.values(), handles.keys(), loc="lower center", ncols=columns, frameon=False, handlelength=3.2
        )
        drawing.tight_layout(rect=(0, 0.01 + 0.045 * rows, 1, 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path.with_suffix(".png"), dpi=130, metadata={"Software": None})
        drawing.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        plt.close(drawing)


def _draw_line(axis: Any, line: Line, style: Style, markers: bool) -> Any:
    """What is not finite is left out."""
    x, mean = np.asarray(line.x, float), np.asarray(line.mean, float)
    mean = np.where(np.isfinite(mean), mean, np.nan)
    marker = style.marker if markers else None
    strokes = {"color": style.color, "linewidth": style.width, "linestyle": style.dashes}
    (handle,) = axis.plot(x, mean, marker=marker, markersize=4, zorder=2 + style.width, **strokes)
    if line.se is not None:
        se = np.nan_to_num(np.asarray(line.se, float), nan=0.0)
        axis.fill_between(x, mean - se, mean + se, color=style.color, alpha=0.16, linewidth=0)
    return handle


def _dress(axis: Any, panel: Panel) -> None:
    axis.set_title(panel.title, loc="left", fontweight="bold")
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.log_y:
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
        axis.yaxis.set_minor_formatter(ticker.FuncFormatter(_some_minor))
    if panel.log_x:
        axis.set_xscale("log")
    if panel.x_ticks is not None:
        axis.set_xticks(panel.x_ticks, [f"{tick:g}" for tick in panel.x_ticks])
        axis.xaxis.set_minor_locator(ticker.NullLocator())
    if panel.y_top is not None and axis.get_ylim()[1] > panel.y_top:
        axis.set_ylim(top=panel.y_top)
    axis.grid(True, which="both", axis="y", alpha=0.2)
    axis.grid(True, which="major", axis="x", alpha=0.2)


def _some_minor(value: float, _: Any) -> str:
    """Minor ticks of a logarithmic axis that begin with 2, 3 or 5 are written out."""
    return f"{value:g}" if f"{value:.0e}"[0] in "235" else ""
