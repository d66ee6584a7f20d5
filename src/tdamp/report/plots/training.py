"""Pictures of the training: log-evidence and held-out log score, the noise, the units that remain."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..axes import WIDE, by_epoch, legend, marker, scale
from ..canvas import SERIES, Picture, picture
from ..facts import TASKS, Facts

OUTPUTS_SHOWN = len(SERIES)
"""Lines of noise of a regression with several outputs, one a colour."""


LONG = 10
"""Epochs from which on the learning curve may be cut at the bottom."""


def pictures(facts: Facts) -> list[Picture]:
    """All pictures of the training; none if no epoch was finished."""
    if not facts.history:
        return []
    return [evidence(facts), *([noise(facts)] if has_noise(facts) else []), units(facts)]


def has_noise(facts: Facts) -> bool:
    """Whether the model learned a noise level: counts have none."""
    return all("noise_var" in record for record in facts.history)


def series(facts: Facts, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Epochs and values of the records that have a finite number under `key`."""
    pairs = [(record["epoch"], record.get(key)) for record in facts.history]
    there = [(epoch, float(value)) for epoch, value in pairs if value is not None and np.isfinite(value)]
    return np.array([epoch for epoch, _ in there]), np.array([value for _, value in there])


def noise_levels(facts: Facts) -> np.ndarray:
    """Standard deviations of the noise, (epochs, outputs); one column for a classification."""
    return np.sqrt(np.array([np.atleast_1d(record["noise_var"]) for record in facts.history], np.float64))


def layer_name(at: int) -> str:
    """Name of a layer of units, the inputs being the first."""
    return f"hidden {at}" if at else "inputs"


def evidence(facts: Facts) -> Picture:
    """Log-evidence and held-out log score by epoch."""
    lines = [
        ("log-evidence", *series(facts, "log_evidence")),
        ("held-out log score", *series(facts, "held_out")),
    ]
    lines = [line for line in lines if len(line[1])]
    floor = _floor([values for _, _, values in lines])

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for i, (label, epochs, values) in enumerate(lines):
            axes.plot(epochs, values, color=SERIES[i], marker=marker(values), label=label)
        if lines:
            scale(axes, "y", np.concatenate([values for _, _, values in lines]))
            if floor is not None:
                axes.set_ylim(bottom=floor)
            by_epoch(axes, lines[0][1])
        axes.set_ylabel("nats per row")
        legend(figure, len(lines))

    read = "Higher is better, and a curve that has gone flat says that more epochs would change little"
    if len(lines) > 1:
        read += "; a held-out curve that falls while the other rises is over-fitting"
    if floor is not None:
        read += ". The first epochs lie below the picture"
    return picture("evidence", "Learning curve", read + ".", paint)


def _floor(curves: list[np.ndarray]) -> float | None:
    """Where to cut the axis if the first epochs would press all others into a line at the top."""
    if not curves or len(curves[0]) < LONG:
        return None
    late = np.concatenate([values[len(values) // 10 :] for values in curves])
    low, high, lowest = late.min(), late.max(), min(values.min() for values in curves)
    return float(low - 0.2 * (high - low)) if low - lowest > 5 * (high - low) > 0 else None


def noise(facts: Facts) -> Picture:
    """Standard deviation of the noise by epoch."""
    epochs, levels = np.array([record["epoch"] for record in facts.history]), noise_levels(facts)

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        shown = levels[:, :OUTPUTS_SHOWN]
        for i, values in enumerate(shown.T):
            axes.plot(epochs, values, color=SERIES[i], marker=marker(values), label=f"output {i + 1}")
        scale(axes, "y", shown)
        by_epoch(axes, epochs)
        axes.set_ylabel("standard deviation")
        legend(figure, shown.shape[1])

    of = TASKS[facts.task].noise_in
    read = f"The noise in the {of} as the model has learned it: the part that it does not explain by the inputs."
    return picture("noise", "Noise level", read, paint)


def units(facts: Facts) -> Picture:
    """Active units of each layer by epoch."""
    epochs = np.array([record["epoch"] for record in facts.history])
    counts = np.array([record["active_units"] for record in facts.history])

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for i, values in enumerate(counts.T):
            colour, dashes = SERIES[i % len(SERIES)], "-" if i < len(SERIES) else "--"
            axes.plot(epochs, values, dashes, color=colour, marker=marker(values), label=layer_name(i))
        if counts.min() > 0 and counts.max() >= WIDE * counts.min():
            scale(axes, "y", counts)
        else:
            axes.set_ylim(0, 1.08 * counts.max())
        by_epoch(axes, epochs)
        axes.set_ylabel("active units")
        legend(figure, counts.shape[1])

    read = "A line that falls is a layer being pruned; a level line is a layer that keeps its units."
    return picture("units", "Active units by layer", read, paint)
