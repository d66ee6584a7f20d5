"""Predictions made after some epochs of a training, always of the same rows, as a checkpoint keeps them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.distribution import Distribution, Level


class Judged(NamedTuple):
    """Log scores of rows, and their errors: 1 for a wrong class, or the squared error of a number."""

    log_scores: np.ndarray
    errors: np.ndarray


Predictions = Distribution | Judged
"""Predictions of rows: distributions where they are calibrated, otherwise how good they were."""


class Snapshot(NamedTuple):
    """Predictions of rows that were not trained on, and the level of those that were, where they are calibrated."""

    predictions: Predictions
    level: Level | None


class Snapshots(list[Snapshot]):
    """A snapshot for each of some epochs."""

    def packed(self) -> dict[str, np.ndarray]:
        """The snapshots as arrays, one epoch after another."""
        if not self:
            return {}
        predictions, levels = zip(*self, strict=True)
        if isinstance(predictions[0], Judged):
            return {
                name: np.stack(values)
                for name, values in zip(Judged._fields, zip(*predictions, strict=True), strict=True)
            }
        parts = zip(Distribution._fields, zip(*predictions, strict=True), strict=True)
        level_parts = zip(Level._fields, zip(*levels, strict=True), strict=True)
        arrays = {name: np.stack(values) for name, values in parts}
        return arrays | {f"level.{name}": np.stack(values) for name, values in level_parts}

    def unpack(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace these snapshots by those that the arrays were made of."""
        if "log_scores" in arrays:
            judged = zip(*(arrays[name] for name in Judged._fields), strict=True)
            self[:] = [Snapshot(Judged(*each), None) for each in judged]
            return
        predictions = zip(*(arrays.get(name, ()) for name in Distribution._fields), strict=True)
        levels = zip(*(arrays.get(f"level.{name}", ()) for name in Level._fields), strict=True)
        self[:] = [Snapshot(Distribution(*a), Level(*b)) for a, b in zip(predictions, levels, strict=True)]
