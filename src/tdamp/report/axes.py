"""Axes, scales and legends that the pictures share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import SERIES, need

WIDE = 10.0
"""Positive values with this ratio or more go on a logarithmic axis."""


def by_epoch(axes: Any, epochs: np.ndarray) -> None:
    """A horizontal axis of whole epochs, also when there is only one."""
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(need("matplotlib.ticker").MaxNLocator(6, integer=True, min_n_ticks=1))
    if len(epochs) == 1:
        axes.set_xlim(epochs[0] - 0.5, epochs[0] + 0.5)


def legend(figure: Any, count: int) -> None:
    """Names above the axes, where they hide nothing; none for one line, or for more than can be told apart."""
    if 1 < count <= 2 * len(SERIES):
        figure.legend(loc="outside upper left", ncols=3, columnspacing=1.2, borderaxespad=0.2)


def marker(values: Any) -> str:
    """Points where there are few enough to tell them apart."""
    return "o" if len(values) <= 12 else ""


def scale(axes: Any, which: str, values: np.ndarray) -> None:
    """Logarithmic with plain numbers where positive values are far apart; room around values that are all the same."""
    low, high = float(np.min(values)), float(np.max(values))
    if low > 0 and high >= WIDE * low:
        axes.set(**{f"{which}scale": "log"})
        plain_log(getattr(axes, f"{which}axis"), (1, 2, 5) if high < 100 * low else (1,))
    elif high - low <= 1e-3 * abs(high):
        room = 0.5 * abs(high) or 1.0
        axes.set(**{f"{which}lim": (low - room, high + room)})


def plain_log(axis: Any, steps: tuple[int, ...] = (1,)) -> None:
    """Plain numbers at the decades of a logarithmic axis, or at some steps in each."""
    ticker = need("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=6))
    axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_minor_locator(ticker.NullLocator())


def tint(most: float = 1.0) -> Any:
    """From nothing to the first series' colour, `most` of it: shares on a light and on a dark page."""
    colors = need("matplotlib.colors")
    r, g, b = colors.to_rgb(SERIES[0])
    return colors.LinearSegmentedColormap.from_list("tint", [(r, g, b, 0.0), (r, g, b, most)])
