"""Tables of the speed benchmark."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from ...core.tables import grid, show_verdicts

NAMES = {"tdamp": "tdamp", "adam_optax": "Adam, optax jitted", "adam_torch": "Adam, PyTorch eager", "pytagi": "pytagi"}


def show(console: Console, parts: dict[str, Any]) -> None:
    """Everything measured, then the verdicts."""
    epoch = parts["epoch"]
    ours = epoch["median"]["tdamp"]
    rows = [[NAMES[name], f"{seconds:.3f}", f"{seconds / ours:.2f}"] for name, seconds in [*epoch["median"].items()]]
    rows.append(["GEMM roofline", f"{epoch['roofline_seconds']:.3f}", f"{epoch['ratios']['roofline_share']:.2f}"])
    title = f"Seconds per epoch, 784-128-10, {epoch['rows']} rows, median of {len(epoch['seconds']['tdamp'])}"
    console.print(grid(title, ["", "seconds", "x tdamp"], rows))

    by_hidden = parts["width"]["by_hidden"]
    rows = [
        [
            hidden,
            str(timed["rows"]),
            *(f"{timed['median'][name]:.3f}" for name in ("tdamp", "adam_optax", "adam_torch")),
            f"{timed['ratios']['roofline_share']:.2f}",
        ]
        for hidden, timed in by_hidden.items()
    ]
    columns = ["hidden", "rows", "tdamp", "optax", "torch", "roofline share"]
    console.print(grid("Width: seconds per epoch of 784-hidden-10", columns, rows))

    shrink = parts["compaction"]
    rows = [
        [
            f"keep {shrink['keep']:g}",
            f"{shrink['before']:.3f}",
            f"{shrink['after']:.3f}",
            f"{shrink['ratio']:.2f}",
            f"{shrink['steady']:.2f}",
        ]
    ]
    columns = ["", "full", "compacted", "ratio", "last epochs only"]
    console.print(grid("Compaction: seconds per epoch", columns, rows))

    rows = [
        [f"{case['sweeps']} sweeps, {case['layers']} layers", f"{case['compile']:.2f}", f"{case['steady']:.3f}"]
        for case in parts["compile"]["cases"]
    ]
    console.print(grid("Compilation, fresh process", ["", "seconds", "steady epoch"], rows))

    memory = parts["memory"]
    rows = [
        ["peak resident memory", f"{memory['peak_bytes'] / 1e6:.0f} MB"],
        ["posterior state / weights", f"{memory['state_over_weights']:.2f}"],
    ]
    console.print(grid("Memory of an MNIST training, fresh process", ["", ""], rows))
    for part in parts.values():
        show_verdicts(console, part["verdicts"])
