"""The plot: memory beside the size of the data, seconds, and error beside the noise, by the number of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.plotting import plt
from .rows import NOISE


def draw(fits: list[dict[str, Any]], path: Path) -> None:
    """Write the PNG."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    for how, mark, name in (("stream", "o-", "from the source"), ("memory", "s", "in memory")):
        some = [fit for fit in fits if fit["how"] == how]
        millions = [fit["rows"] / 1e6 for fit in some]
        left.plot(millions, [fit["peak_bytes"] / 2**30 for fit in some], mark, label=f"peak, {name}")
        middle.plot(millions, [fit["seconds"] for fit in some], mark, label=name)
        right.plot(millions, [fit["rmse"] for fit in some], mark, label=name)
        if how == "stream":
            left.plot(millions, [fit["data_bytes"] / 2**30 for fit in some], "k:", label="the data, as float32")
    right.axhline(NOISE, color="black", lw=0.8, label="noise")
    left.set(ylabel="GiB", title="Resident memory", ylim=(0, None))
    middle.set(ylabel="seconds", title="A whole fit", ylim=(0, None))
    right.set(ylabel="RMSE on new rows", title="Error")
    for axes in (left, middle, right):
        axes.set(xlabel="million rows")
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
