"""The plot: how much each clip changed, problem by problem, and how the streams went."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...core.plotting import plt
from . import summary
from .places import CLIPS

LEAST = 1e-7
"""Where the axis of the shares begins."""


def draw(problems: summary.Lines, streams: summary.Lines, path: Path) -> None:
    """Write the PNG."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(17, 4.6), layout="constrained")
    for i, name in enumerate(CLIPS):
        share = summary.shares(problems, i)
        hit = np.sort(share[share > 0])[::-1]
        if len(hit):
            label = f"{name}: {len(hit) / len(share):.0%} of {len(share)}"
            left.plot(np.arange(1, len(hit) + 1) / len(share), np.maximum(hit, LEAST), label=label)
    left.set(yscale="log", xlabel="share of problems with at least so much clipped", ylabel="share of numbers clipped")
    left.set(title=f"Clips in {len(problems)} problems")
    left.legend(fontsize=8)
    for line in streams:
        batch = [snapshot["batch"] for snapshot in line["looks"]]
        middle.plot(batch, [snapshot["log_score"] for snapshot in line["looks"]], lw=1, label=line["stream"])
        right.plot(batch, [snapshot["doubt"] for snapshot in line["looks"]], lw=1, label=line["stream"])
    middle.set(xlabel="batch", ylabel="log score of clean rows", yscale="symlog", title="Streams: predictions")
    right.set(xlabel="batch", ylabel="variance / base variance, median weight", yscale="log")
    right.set(title="Streams: what is left open")
    for axes in (left, middle, right):
        axes.grid(alpha=0.25)
    if streams:
        middle.legend(fontsize=8)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
