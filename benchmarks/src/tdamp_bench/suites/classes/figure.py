"""The plot of the class probabilities: reliability, and what happens as the digits are turned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.plotting import plt, ticker
from .contenders import LABELS

FEW = 10
"""A bin with fewer rows, on average over seeds, says nothing and is not drawn."""


def draw(part: dict[str, Any], path: Path) -> None:
    """Write the PNG."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 8.4), layout="constrained")
    for i, (name, scored) in enumerate(part["methods"].items()):
        style = {"color": f"C{i}", "label": LABELS[name], "ls": "-" if "tdamp" in name else "--", "lw": 1.4}
        _reliability(axes[0, 0], scored["mean"]["test"]["reliability"], style)
        turned = scored["mean"]["turned"]
        angles = [int(angle) for angle in turned]
        for axis, key, scale in ((axes[0, 1], "nll", 1), (axes[1, 0], "error", 100), (axes[1, 1], "entropy", 1)):
            axis.plot(angles, [scale * one[key] for one in turned.values()], marker="o", ms=3, **style)
    axes[0, 0].axhline(0, color="black", lw=0.8)
    axes[0, 0].set(
        xlabel="probability of the likeliest class", ylabel="accuracy - probability", title="Test digits: reliability"
    )
    for axis, title in ((axes[0, 1], "NLL"), (axes[1, 0], "error (%)"), (axes[1, 1], "mean entropy (nats)")):
        axis.set(xlabel="degrees", ylabel=title, title=f"Test digits turned: {title}")
        axis.set_xticks(range(0, 181, 30))
    axes[0, 1].set_yscale("log")
    axes[0, 1].yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    axes[0, 1].yaxis.set_minor_formatter(ticker.NullFormatter())
    for axis in axes.flat:
        axis.grid(True, which="both", alpha=0.25)
    axes[1, 0].legend(fontsize=8, loc="lower right")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _reliability(axis: Any, bins: dict[str, Any], style: dict[str, Any]) -> None:
    rows, confidence, accuracy = (np.array(bins[name], float) for name in ("rows", "confidence", "accuracy"))
    enough = rows >= FEW
    axis.plot(confidence[enough], (accuracy - confidence)[enough], marker="o", ms=3, **style)
