"""The plot: RMSE and NLL of every method on every table, relative to the published ones of PBP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.plotting import plt, ticker
from ...figures.draw import STYLES, Style
from . import published
from .methods import METHODS
from .protocol import SETS
from .published import PUBLISHED
from .table import Summary

STYLE_OF = {
    "mc_dropout": Style("#7F7F7F", marker="s"),
    "deep_ensembles": Style("#7F7F7F", marker="D"),
    "tdamp": STYLES["tdamp"],
    "gp": Style("#009E73", marker="^"),
    "pytagi": Style("#CC79A7", marker="v"),
    "ensemble": Style("#D55E00", marker="D"),
    "ensemble_adamw": Style("#882255", marker="X"),
    "laplace": Style("#E69F00", marker="P"),
}
"""Published figures are hollow."""
SPREAD = 0.7
"""Of the points of a table along the axis, on which tables are one apart."""
LINEAR_NLL = 0.1
"""Differences in NLL are drawn linearly up to here, in their logarithm beyond: yacht's are far larger than wine's."""


def draw(summary: Summary, path: Path) -> None:
    """Write the PNG."""
    drawing, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    for i, name in enumerate(summary):
        for (method, style), shift in zip(STYLE_OF.items(), np.linspace(-0.5, 0.5, len(STYLE_OF)), strict=True):
            for axis, point in zip(axes, _points(name, summary[name], method), strict=True):
                if point is not None and np.isfinite(point[0]):
                    _mark(axis, i + SPREAD * shift, point, style, hollow=method in published.LABELS)
    plain = ticker.StrMethodFormatter("{x:g}")
    axes[0].set(yscale="log", title="Test RMSE / PBP's, published")
    axes[0].yaxis.set_major_formatter(plain)
    axes[0].yaxis.set_minor_formatter(plain)
    axes[1].set_yscale("symlog", linthresh=LINEAR_NLL)
    axes[1].yaxis.set_major_formatter(plain)
    axes[1].set(title="Test NLL - PBP's, published (nats)")
    for axis, level in zip(axes, (1, 0), strict=True):
        axis.axhline(level, color="black", lw=0.8)
        axis.set_xticks(range(len(summary)), [SETS[name].title for name in summary])
        axis.grid(True, axis="y", alpha=0.25)
    _legend(drawing, axes[0], summary)
    drawing.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(drawing)


def _points(name: str, methods: dict[str, Any], method: str) -> list[tuple[float, float] | None]:
    """RMSE over PBP's and NLL minus PBP's, each with its standard error."""
    pbp = PUBLISHED[name]["pbp"]
    if method in published.LABELS:
        rmse, nll = PUBLISHED[name][method]
        return [(rmse / pbp.rmse, 0.0), (nll - pbp.nll, 0.0)]
    if method not in methods:
        return [None, None]
    mean, error = methods[method]["mean"], methods[method]["error"]
    return [(mean["rmse"] / pbp.rmse, error["rmse"] / pbp.rmse), (mean["nll"] - pbp.nll, error["nll"])]


def _mark(axis: Any, x: float, point: tuple[float, float], style: Style, hollow: bool) -> None:
    face = "white" if hollow else style.color
    marker = {"color": style.color, "markerfacecolor": face, "markersize": 5 + style.width, "lw": 1}
    axis.errorbar(x, point[0], point[1] or None, marker=style.marker, **marker)


def _legend(drawing: Any, axis: Any, summary: Summary) -> None:
    shown = [
        name for name in STYLE_OF if name in published.LABELS or any(name in methods for methods in summary.values())
    ]
    for name in shown:
        style, hollow = STYLE_OF[name], name in published.LABELS
        label = f"{published.LABELS[name]}, published" if hollow else METHODS[name].label
        face = "white" if hollow else style.color
        axis.plot([], [], ls="", marker=style.marker, color=style.color, markerfacecolor=face, label=label)
    drawing.legend(loc="outside lower center", ncols=len(shown), frameon=False)
