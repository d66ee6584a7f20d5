"""Pictures of how far a regression's uncertainty can be trusted: PIT, coverage, predicted against true."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.distribution import Distribution
from ..canvas import GRID, MUTED, SERIES, Picture, picture
from ..facts import Held

OUTPUTS_SHOWN = 3
PIT_BINS = 10
POINTS = 150
"""Rows drawn with an error bar; more would hide each other."""

LEVELS = np.linspace(0.05, 0.95, 19)


def pictures(held: Held) -> list[Picture]:
    """Three pictures for each of the first outputs."""
    drawn = []
    for at in range(min(held.n_outputs, OUTPUTS_SHOWN)):
        suffix = f", output {at + 1}" if held.n_outputs > 1 else ""
        for draw in (scatter, coverage, pit):
            drawn.append(draw(*held.output(at), f"-{at}" if at else "", suffix))
    return drawn


def scatter(y: np.ndarray, predicted: Distribution, name: str, suffix: str) -> Picture:
    """Predicted against true, with 95 % intervals."""
    shown = np.unique(np.linspace(0, len(y) - 1, min(len(y), POINTS)).round().astype(int))
    y, predicted = y[shown], predicted.take(shown)
    mean, (low, high) = predicted.mean, predicted.interval(0.95)

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        ends = np.array([min(y.min(), mean.min()), max(y.max(), mean.max())])
        if ends[0] == ends[1]:
            ends = ends + np.array([-1.0, 1.0])
        axes.plot(ends, ends, color=MUTED, lw=1, ls="--")
        axes.vlines(y, low, high, color=SERIES[0], lw=0.8, alpha=0.35)
        axes.plot(y, mean, "o", color=SERIES[0], ms=3)
        axes.set(xlabel="true value", ylabel="prediction")

    read = "Points on the dashed line are exact; the bars are 95 % intervals, of which 95 % should touch the line."
    return picture(f"scatter{name}", f"Predicted against true{suffix}", read, paint)


def coverage(y: np.ndarray, predicted: Distribution, name: str, suffix: str) -> Picture:
    """Observed against nominal coverage of central intervals."""
    observed = np.array([predicted.covered(y, level) for level in LEVELS])
    chance = 2 * np.sqrt(LEVELS * (1 - LEVELS) / len(y))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        low, high = np.maximum(LEVELS - chance, 0), np.minimum(LEVELS + chance, 1)
        axes.fill_between(100 * LEVELS, 100 * low, 100 * high, color=GRID, lw=0)
        axes.plot([0, 100], [0, 100], color=MUTED, lw=1, ls="--")
        axes.plot(100 * LEVELS, 100 * observed, color=SERIES[0], marker="o", ms=3)
        axes.set(xlim=(0, 100), ylim=(0, 102), xlabel="promised coverage (%)", ylabel="observed coverage (%)")
        axes.set(xticks=range(0, 101, 25), yticks=range(0, 101, 25))

    read = (
        "Below the dashed line the intervals are too narrow, above it too wide; inside the band it may be chance "
        "(two standard errors)."
    )
    return picture(f"coverage{name}", f"Coverage of intervals{suffix}", read, paint)


def pit(y: np.ndarray, predicted: Distribution, name: str, suffix: str) -> Picture:
    """Histogram of the probability integral transform; a count is spread over the probability that it has itself."""
    edges = np.linspace(0, 1, PIT_BINS + 1)
    count = len(y) * np.diff([0, *(predicted.pit_share(y, edge).mean() for edge in edges[1:-1]), 1])
    expected = len(y) / PIT_BINS
    chance = 2 * np.sqrt(expected * (1 - 1 / PIT_BINS))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.bar(edges[:-1], count, np.diff(edges), align="edge", color=SERIES[0], alpha=0.75)
        for edge in (max(expected - chance, 0), expected + chance):
            axes.axhline(edge, color=MUTED, lw=1, ls=":")
        axes.axhline(expected, color=MUTED, lw=1, ls="--")
        axes.locator_params("y", integer=True, nbins=6)
        axes.set(xlim=(0, 1), xlabel="predicted probability of a smaller value", ylabel="rows")

    read = (
        "Calibrated predictions make bars of one height, up to chance (dotted lines); a hump is too little confidence, "
        "a bowl is too much, a slope is a bias."
    )
    return picture(f"pit{name}", f"Where the truth fell (PIT){suffix}", read, paint)
