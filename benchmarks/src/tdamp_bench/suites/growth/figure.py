"""The plot: seconds per epoch along each series, its power law, and the roofline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.plotting import plt

LABELS = {
    "rows": "rows",
    "width": "hidden units",
    "depth": "hidden layers",
    "kept": "share of the units kept",
}


def draw(report: dict[str, Any], path: Path) -> None:
    """Write the PNG."""
    figure, panels = plt.subplots(1, len(LABELS), figsize=(19, 4.3), layout="constrained")
    for axes, (name, label) in zip(panels, LABELS.items(), strict=True):
        points, law = sorted(report["series"][name], key=lambda point: point["at"]), report["laws"][name]
        at = [point["at"] for point in points]
        for point in points:
            axes.plot([point["at"]] * len(point["seconds"]), point["seconds"], ".", color="tab:blue", alpha=0.25)
        axes.plot(at, [point["median"] for point in points], "o-", color="tab:blue", label="seconds per epoch, median")
        axes.plot(at, [point["roofline_seconds"] for point in points], "k:", label="GEMM roofline")
        fitted = [point for point in points if point[law["size"]] >= min(law["fitted_to"])]
        by = law["by_median"]
        line = [by["constant"] * point[law["size"]] ** by["exponent"] for point in fitted]
        label_law = f"exponent {by['exponent']:.2f} ± {by['standard_error']:.2f}"
        axes.plot([point["at"] for point in fitted], line, "-", color="tab:orange", lw=1.5, label=label_law)
        axes.set(xscale="log", yscale="log", xlabel=label, title=_title(name, points))
        axes.set_xticks(at, [f"{value:g}" for value in at], fontsize=8)
        axes.minorticks_off()
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8, loc="lower right" if np.diff(line).sum() > 0 else "upper right")
    panels[0].set_ylabel("seconds")
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


def _title(name: str, points: list[dict[str, Any]]) -> str:
    widths, rows = points[-1]["widths"], points[-1]["rows"]
    shape = {
        "rows": "-".join(map(str, widths)),
        "width": f"{widths[0]}-width-{widths[-1]}, {rows} rows",
        "depth": f"{widths[0]}-{widths[1]}-...-{widths[-1]}, {rows} rows",
        "kept": f"compacted from {'-'.join(map(str, widths))}, {rows} rows",
    }
    return shape[name]
