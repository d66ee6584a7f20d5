"""The plot of the accuracy benchmark: error by epoch, one panel a part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.plotting import plt, ticker
from .table import TITLES, curves


def draw(parts: dict[str, Any], path: Path) -> None:
    """Write the PNG."""
    plain = ticker.StrMethodFormatter("{x:g}")
    columns = min(2, len(parts))
    rows = -(-len(parts) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(6 * columns, 4.2 * rows), squeeze=False, layout="constrained")
    for axis in axes.flat[len(parts) :]:
        axis.set_visible(False)
    for axis, (name, part) in zip(axes.flat, parts.items(), strict=False):
        for label, curve, _ in curves(name, part):
            scale = 1 if name == "boston" else 100
            values = [scale * value for value in curve]
            axis.plot(range(1, len(curve) + 1), values, label=label, ls="-" if "tdamp" in label else "--")
        axis.set(xlabel="epoch", ylabel="test NMSE" if name == "boston" else "test error (%)", yscale="log")
        axis.yaxis.set_major_formatter(plain)
        axis.yaxis.set_minor_formatter(plain)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.set_title(TITLES[name].partition(",")[0], fontsize=10)
        axis.grid(True, which="both", alpha=0.25)
        axis.legend(fontsize=7)
    figure.savefig(path, dpi=130)
    plt.close(figure)
