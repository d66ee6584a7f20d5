"""The plot of the speed benchmark: the epoch, its scaling with width, and its shrinking with the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.plotting import plt
from .table import NAMES


def draw(parts: dict[str, Any], path: Path) -> None:
    """Write the PNG."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")

    epoch = parts["epoch"]
    bars = {NAMES[name]: seconds for name, seconds in epoch["median"].items()}
    bars["GEMM roofline"] = epoch["roofline_seconds"]
    left.barh(list(bars), list(bars.values()))
    left.invert_yaxis()
    left.set(xscale="log", xlabel="seconds per epoch", title=f"784-128-10, {epoch['rows']} rows")

    by_hidden = parts["width"]["by_hidden"]
    hidden = [int(key) for key in by_hidden]
    for name in ("tdamp", "adam_optax", "adam_torch"):
        per_row = [1e6 * timed["median"][name] / timed["rows"] for timed in by_hidden.values()]
        middle.plot(hidden, per_row, "o-", label=NAMES[name])
    roofline = [1e6 * timed["roofline_seconds"] / timed["rows"] for timed in by_hidden.values()]
    middle.plot(hidden, roofline, "k:", label="GEMM roofline")
    middle.set(xscale="log", yscale="log", xlabel="hidden units", ylabel="microseconds per row", title="784-hidden-10")
    middle.set_xticks(hidden, [str(n) for n in hidden])
    middle.minorticks_off()
    middle.legend(fontsize=8)

    shrink = parts["compaction"]
    epochs = range(1, len(shrink["seconds"]) + 1)
    right.plot(epochs, shrink["seconds"], "o-", label="seconds, recompilation included")
    right.set(yscale="log", xlabel="epoch", ylabel="seconds", title=f"keep {shrink['keep']:g}: an epoch as units leave")
    units = right.twinx()
    units.step(epochs, shrink["units_during"], "k:", where="mid")
    units.set_ylabel("units (dotted)")
    right.legend(fontsize=8, loc="lower left")

    figure.savefig(path, dpi=130)
    plt.close(figure)
