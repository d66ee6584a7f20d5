"""Predictions made after some epochs of a training, always of the same rows, as a checkpoint keeps them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.distribution import Distribution, Level

Predictions = Distribution | np.ndarray
"""Predictions of rows: distributions where they are calibrated, otherwise the log scores of the targets, (rows,)."""


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
        if isinstance(predictions[0], np.ndarray):
            return {"log_scores": np.stack(predictions)}
        parts = zip(Distribution._fields, zip(*predictions, strict=True), strict=True)
        level_parts = zip(Level._fields, zip(*levels, strict=True), strict=True)
        arrays = {name: np.stack(values) for name, values in parts}
        return arrays | {f"level.{name}": np.stack(values) for name, values in level_parts}

    def unpack(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace these snapshots by those that the arrays were made of."""
        if "log_scores" in arrays:
            self[:] = [Snapshot(scores, None) for scores in arrays["log_scores"]]
            return
        predictions = zip(*(arrays.get(name, ()) for name in Distribution._fields), strict=True)
        levels = zip(*(arrays.get(f"level.{name}", ()) for name in Level._fields), strict=True)
        self[:] = [Snapshot(Distribution(*a), Level(*b)) for a, b in zip(predictions, levels, strict=True)]
