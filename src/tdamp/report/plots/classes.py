"""Pictures of how far class probabilities can be trusted: reliability, error by confidence, confusion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import metrics
from ..axes import plain_log, tint
from ..canvas import GRID, INK, MUTED, SERIES, Picture, picture
from ..facts import Facts, Held
from ..text import percent, short

CLASSES_SHOWN = 12
"""A confusion matrix of more classes could not be read in a phone's width."""


def pictures(facts: Facts, held: Held) -> list[Picture]:
    """Reliability, error by confidence and, for few classes, confusion."""
    drawn = [reliability(held), selective(held)]
    return [*drawn, confusion(facts, held)] if facts.widths[-1] <= CLASSES_SHOWN else drawn


def wilson(share: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of a share seen in `count` rows (Wilson's), which stays inside [0, 1] for shares of 0 and 1."""
    z2 = 1.96**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    reach = np.sqrt(z2 * share * (1 - share) / count + (z2 / (2 * count)) ** 2) / (1 + z2 / count)
    return centre - reach, centre + reach


def reliability(held: Held) -> Picture:
    """Accuracy against confidence, with the number of rows in each bin."""
    assert held.probs is not None
    bins = metrics.reliability(held.y, held.probs)
    there, n_bins = bins.rows > 0, len(bins.rows)
    share, confidence = bins.accuracy[there], bins.confidence[there]
    low, high = wilson(share, bins.rows[there])

    def paint(figure: Any) -> None:
        top, bottom = figure.subplots(2, sharex=True, height_ratios=(3, 1))
        top.plot([0, 100], [0, 100], color=MUTED, lw=1, ls="--")
        top.vlines(100 * confidence, 100 * low, 100 * high, color=SERIES[0], lw=1.2, alpha=0.45)
        top.plot(100 * confidence, 100 * share, color=SERIES[0], marker="o", lw=1.2)
        top.set(xlim=(0, 100), ylim=(0, 103), ylabel="right (%)", yticks=range(0, 101, 25), xticks=range(0, 101, 25))
        edges = 100 * np.arange(n_bins) / n_bins
        bottom.bar(edges, bins.rows, 100 / n_bins, align="edge", color=SERIES[0], alpha=0.75)
        bottom.set(ylabel="rows", xlabel="confidence: probability of the predicted class (%)")
        bottom.set(yscale="log", ylim=(0.7, 2.5 * bins.rows.max()))
        plain_log(bottom.yaxis)

    gap = percent(metrics.ece(held.y, held.probs))
    read = (
        "Points below the dashed line are over-confident, above it too modest; the thin lines are 95 % intervals, "
        f"the bars below count the rows (on a logarithmic scale), and the mean distance from the line (ECE) is {gap}."
    )
    return picture("reliability", "Reliability", read, paint, 3.6)


def selective(held: Held) -> Picture:
    """Error among the most confident rows."""
    assert held.probs is not None
    probs = np.asarray(held.probs)
    order = np.argsort(-probs.max(1), kind="stable")
    wrong = np.cumsum(probs.argmax(1)[order] != np.asarray(held.y)[order])
    answered = np.arange(1, len(order) + 1)
    picked = np.unique(np.linspace(0, len(order) - 1, 200).round().astype(int))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot(100 * answered[picked] / len(order), 100 * wrong[picked] / answered[picked], color=SERIES[1])
        axes.set(xlim=(0, 100.5), xlabel="rows answered, most confident first (%)", ylabel="error among them (%)")
        axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))

    read = "A model that knows what it does not know errs little on the left, where it answers only what it is sure of."
    return picture("selective", "Error by confidence", read, paint, 3.6)


def confusion(facts: Facts, held: Held) -> Picture:
    """Rows by true and predicted class."""
    assert held.probs is not None
    n = facts.widths[-1]
    count = np.zeros((n, n), int)
    np.add.at(count, (held.y, np.asarray(held.probs).argmax(1)), 1)
    share = count / np.maximum(count.sum(1, keepdims=True), 1)
    names = [short(facts.label(i), 10) for i in range(n)]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.imshow(share, cmap=tint(0.55), vmin=0, vmax=1, interpolation="none", aspect="auto")
        for i, j in np.argwhere(count > 0):
            axes.text(j, i, count[i, j], ha="center", va="center", color=INK, fontsize=10)
        turned = 90 if max(map(len, names)) * n > 36 else 0
        axes.set_xticks(range(n), names, rotation=turned)
        axes.set_yticks(range(n), names)
        axes.set(xlabel="predicted", ylabel="true")
        axes.grid(False)
        axes.set_xticks(np.arange(n - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(n - 1) + 0.5, minor=True)
        axes.grid(True, which="minor", color=GRID)

    read = "Rows off the diagonal are errors; a coloured cell there is a class that is often taken for another."
    return picture("confusion", "True and predicted classes", read, paint, 3.6)
