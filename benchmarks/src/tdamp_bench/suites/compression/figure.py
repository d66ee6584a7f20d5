"""The plots: error and NLL on MNIST against units, parameters and multiply-adds; losses on tables against bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tdamp.engine.network import n_multiply_adds, n_params

from ...core.plotting import plt, ticker
from ...figures.draw import STYLES, Style
from .published import POINTS, Point
from .summary import Row
from .tasks import LENETS

STYLE_OF = {
    "tdamp": STYLES["tdamp"],
    "tdamp_by_layer": Style("#56B4E9", marker="s"),
    "magnitude": Style("#D55E00", marker="P"),
    "adamw": Style("#882255", marker="X"),
    "lightgbm": Style("#009E73", marker="D"),
}
PUBLISHED = Style("#000000", marker="*")
SIZES = {"units": "inputs and hidden units", "params": "parameters", "multiply_adds": "multiply-adds"}
CLASSES = 10


def draw(rows: Sequence[Row], path: Path) -> list[Path]:
    """Write a PNG for MNIST, `path`, and one for the tables beside it, where there are runs; which ones."""
    digits, tables = ([row for row in rows if (row["task"] in LENETS) == known] for known in (True, False))
    written = []
    if digits:
        _digits(digits, path)
        written.append(path)
    if tables:
        beside = path.with_name(f"{path.stem}-tables{path.suffix}")
        _tables(tables, beside)
        written.append(beside)
    return written


def _digits(rows: Sequence[Row], path: Path) -> None:
    drawing, axes = plt.subplots(2, 3, figsize=(14, 8), sharex="col", sharey="row", layout="constrained")
    for (size, title), column in zip(SIZES.items(), axes.T, strict=True):
        for axis, score, scale in zip(column, ("loss", "nll"), (100.0, 1.0), strict=True):
            for row in rows:
                _mark(axis, row[size]["mean"], row[score], row, scale)
            axis.set(xscale="log", xlabel=title)
        for point in POINTS:
            x = published_size(point)[size]
            column[0].plot(x, 100 * point.error, marker=PUBLISHED.marker, color=PUBLISHED.color, mfc="white", ls="")
            column[0].annotate(
                point.name, (x, 100 * point.error), fontsize=7, rotation=60, xytext=(0, 6), textcoords="offset points"
            )
    axes[0, 0].set(ylabel="test error (%)")
    axes[1, 0].set(ylabel="test NLL (nats)")
    axes[0, 0].plot([], [], marker=PUBLISHED.marker, color=PUBLISHED.color, mfc="white", ls="", label="published")
    _save(drawing, axes, path)


def published_size(point: Point) -> dict[str, int]:
    """Units, parameters and multiply-adds of the network as printed, with all its weights."""
    widths = (*point.kept, CLASSES)
    return {"units": point.units, "params": n_params(widths), "multiply_adds": n_multiply_adds(widths)}


def _tables(rows: Sequence[Row], path: Path) -> None:
    names = list(dict.fromkeys(row["task"] for row in rows))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    drawing, axes = plt.subplots(lines, columns, figsize=(14, 4 * lines), squeeze=False, layout="constrained")
    for name, axis in zip(names, axes.flat, strict=False):
        here = [row for row in rows if row["task"] == name]
        for row in here:
            _mark(axis, row["bytes"]["mean"], row["loss"], row)
        axis.set(xscale="log", yscale="log", xlabel="bytes", title=here[0]["title"], ylabel=here[0]["loss_is"])
        axis.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
        axis.yaxis.set_minor_formatter(ticker.StrMethodFormatter("{x:g}"))
    _save(drawing, axes, path)


def _mark(axis: Any, x: float, score: dict[str, Any], row: Row, scale: float = 1.0) -> None:
    """A point with its standard error; what is not finite is left out."""
    mean, style = float(score["mean"]), STYLE_OF[row["arm"]]
    if np.isfinite(mean):
        error = scale * float(np.nan_to_num(float("nan") if score["se"] is None else score["se"]))
        marker = {"marker": style.marker, "color": style.color, "ms": 4 + style.width, "ls": "", "alpha": 0.85}
        known = axis.get_legend_handles_labels()[1]
        axis.errorbar(x, scale * mean, error or None, label=None if row["label"] in known else row["label"], **marker)


def _save(drawing: Any, axes: np.ndarray, path: Path) -> None:
    for axis in axes.flat:
        axis.grid(True, which="both", alpha=0.2)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    drawing.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(drawing)
