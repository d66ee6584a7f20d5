"""Pictures of what the network uses: inputs, hidden units, and error against size along a sparsity path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..axes import legend, marker, scale, tint
from ..canvas import GRID, INK, MUTED, SERIES, Picture, need, picture
from ..facts import TASKS, Facts
from ..text import number, percent, plain, short
from .training import layer_name

BARS = 15


def pictures(facts: Facts) -> list[Picture]:
    """Inputs, hidden units if there are any, and the path if it was given."""
    drawn = [input_image(facts) if facts.image_shape and facts.n_pixels is None else input_bars(facts)]
    if len(facts.active_prob) > 1:
        drawn.append(hidden(facts))
    if frontier_rows(facts):
        drawn.append(frontier(facts))
    return drawn


def top_inputs(facts: Facts, count: int) -> np.ndarray:
    """Indices of the inputs most likely to be active, in the order of the data where they are equal."""
    return np.argsort(-np.asarray(facts.active_prob[0], np.float64), kind="stable")[:count]


def input_bars(facts: Facts) -> Picture:
    """P(active) of the inputs most likely to be in use."""
    top = top_inputs(facts, BARS)
    probs = np.asarray(facts.active_prob[0], np.float64)
    names = [short(facts.feature(i), 20) for i in top]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        places = np.arange(len(top))
        axes.barh(places, np.ones(len(top)), 0.68, color=GRID, alpha=0.55)
        axes.barh(places, probs[top], 0.68, color=SERIES[0])
        axes.set(xlim=(0, 1), ylim=(max(len(top), 3) - 0.4, -0.6), xlabel="probability of being in use")
        axes.set_yticks(places, names, color=INK)
        axes.grid(False)
        axes.spines["left"].set_visible(False)

    used = int((probs > 0).sum())
    more = f" The {len(top)} likeliest of {len(probs)} are shown." if len(top) < len(probs) else ""
    read = (
        f"A full bar is an input that the network surely uses, an empty one an input that was removed; {used} remain."
    )
    return picture("inputs", "Inputs in use", read + more, paint, max(3.0, 0.9 + 0.2 * len(top)))


def input_image(facts: Facts) -> Picture:
    """P(active) of the pixels."""
    probs = np.asarray(facts.active_prob[0], np.float64)
    shape = facts.image_shape
    assert shape is not None

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        image = axes.imshow(probs.reshape(shape), cmap=tint(), vmin=0, vmax=1, interpolation="none")
        axes.set(xticks=[], yticks=[])
        axes.grid(False)
        axes.spines[:].set_visible(True)
        bar = figure.colorbar(image, ax=axes, shrink=0.85, ticks=[0, 0.5, 1])
        bar.set_label("probability of being in use")
        bar.outline.set_linewidth(0.7)

    left = f"{int((probs > 0).sum())} of {len(probs)} remain"
    read = f"A pixel in full colour is surely used and an empty one was removed; {left}."
    return picture("inputs", "Pixels in use", read, paint)


def hidden(facts: Facts) -> Picture:
    """P(active) of the hidden units, sorted, a line a layer."""
    layers = [np.sort(np.asarray(prob, np.float64))[::-1] for prob in facts.active_prob[1:]]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for i, probs in enumerate(layers):
            colour = SERIES[(i + 1) % len(SERIES)]  # as in the picture of active units
            axes.stairs(probs, np.arange(len(probs) + 1), baseline=None, color=colour, lw=1.8, label=layer_name(i + 1))
        axes.set(
            ylim=(-0.03, 1.06), xlim=(0, None), xlabel="hidden units, likeliest first", ylabel="probability of use"
        )
        axes.xaxis.set_major_locator(need("matplotlib.ticker").MaxNLocator(6, integer=True))
        legend(figure, len(layers))

    read = "Each line falls from units that are surely in use to units that were removed; a steep fall is a clear cut."
    return picture("hidden", "Hidden units in use", read, paint)


def frontier_rows(facts: Facts) -> list[Mapping[str, Any]]:
    """Models of the path that have a size and an error, by size."""
    size, error = frontier_keys(facts)
    rows = [row for row in facts.frontier or () if all(known(row, key) for key in (size, error))]
    return sorted(rows, key=lambda row: row[size])


def known(row: Mapping[str, Any], key: str) -> bool:
    """Whether a model of the path has a number under `key`, or numbers, or a word."""
    value = row.get(key)
    return value is not None and (isinstance(value, str) or bool(np.isfinite(value).all()))


def kept(keep: Any) -> str:
    """What a model was to keep: a share of the units, their number, a share for each layer, or "auto"."""
    if isinstance(keep, str):
        return plain(keep)
    if np.ndim(keep):
        return ", ".join(percent(float(share)) for share in keep)
    return number(int(keep)) if isinstance(keep, int | np.integer) or keep > 1 else percent(keep)


def frontier_keys(facts: Facts) -> tuple[str, str]:
    """The names of a path's size and error."""
    has_params = all("params" in row for row in facts.frontier or ())
    return "params" if has_params else "units", TASKS[facts.task].error


def frontier(facts: Facts) -> Picture:
    """Error against size."""
    rows, (size, error) = frontier_rows(facts), frontier_keys(facts)
    sizes = np.array([row[size] for row in rows], np.float64)
    unit, bar = 100 if error == "error" else 1, f"{error}_se"
    errors = np.array([row[error] for row in rows], np.float64) * unit
    bars = np.array([row[bar] if known(row, bar) else 0 for row in rows], np.float64) * unit
    good = [row[size] for row in rows if known(row, "lost") and known(row, "lost_se") and row["lost"] <= row["lost_se"]]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.errorbar(sizes, errors, bars if bars.any() else None, color=SERIES[0], marker=marker(sizes) or ".")
        if good:
            axes.axvline(min(good), color=MUTED, ls=":", lw=1)
        for row, x, y in zip(rows, sizes, errors, strict=True):
            if len(rows) <= 10 and known(row, "keep"):
                axes.annotate(kept(row["keep"]), (x, y), (4, 5), textcoords="offset points", color=INK, fontsize=10)
        axes.margins(0.12, 0.15)
        scale(axes, "x", sizes)
        axes.set_xlabel("parameters" if size == "params" else "units")
        axes.set_ylabel("error (%)" if error == "error" else "RMSE")

    read = (
        "Each point is a network pruned to what is beside it, a share of the units or their number; the best "
        "compromise is where the curve bends."
    )
    if bars.any():
        read += " Bars are standard errors."
    if good:
        read += " The dotted line is at the smallest network whose log score is within a standard error of the best."
    return picture("frontier", "Error against size", read, paint)
