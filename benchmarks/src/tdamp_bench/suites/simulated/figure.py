"""The plot: what each draw's error was beside what the network had said, and the ratio and the noise beside the true
noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.plotting import plt
from .ratio import HIGH, LOW, Draws

PARTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
RATIOS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
"""What is written at the axes."""


def draw(draws: Draws, summary: dict[str, Any], path: Path) -> None:
    """Write the PNG."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    epistemic, error, true, learned = (
        np.sqrt([one[key] for one in draws])
        for key in ("epistemic_var", "squared_error", "noise_var", "learned_noise_var")
    )
    points = left.scatter(epistemic, error, c=true, s=16, cmap="viridis")
    ends = [0.9 * min(epistemic.min(), error.min()), 1.1 * max(epistemic.max(), error.max())]
    left.plot(ends, ends, "k:", lw=1)
    left.set(xscale="log", yscale="log", title="Error of the mean, beside what was said")
    left.set(xlabel="epistemic standard deviation / function's", ylabel="RMSE against the function / function's std")
    figure.colorbar(points, ax=left, label="noise std / function's")

    middle.scatter(true, (epistemic / error) ** 2, s=16, color="tab:blue")
    middle.axhspan(LOW, HIGH, color="tab:green", alpha=0.15, lw=0)
    title = (
        f"pooled {summary['ratio']:.2f} ± {summary['ratio_standard_error']:.2f}, median {summary['median_ratio']:.2f}"
    )
    middle.set(xscale="log", yscale="log", xlabel="noise std / function's", title=title)
    middle.set(ylabel="epistemic variance / squared error")

    right.scatter(true, (learned / true) ** 2, s=16, color="tab:orange")
    right.set(xscale="log", yscale="log", xlabel="noise std / function's", ylabel="learned / true noise variance")
    right.set(title=f"noise: median {summary['noise_ratio']:.2f}")
    for axes in (middle, right):
        axes.axhline(1, color="black", lw=0.8)
    for axes, ticks in ((left, PARTS), (middle, RATIOS), (right, RATIOS)):
        _label(axes.xaxis, PARTS)
        _label(axes.yaxis, ticks)
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


def _label(axis: Any, ticks: tuple[float, ...]) -> None:
    """These ticks alone, as plain numbers, within the range of what is drawn."""
    low, high = axis.get_view_interval()
    shown = [tick for tick in ticks if low <= tick <= high]
    axis.set_ticks(shown, labels=[f"{tick:g}" for tick in shown])
    axis.set_ticks([], minor=True)
