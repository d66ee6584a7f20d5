"""Predictions made after some epochs of a training, as a checkpoint keeps them."""

from __future__ import annotations

import numpy as np

from ..training.calibration import Level, Predicted

Seen = Predicted | np.ndarray
"""What is seen of rows: a regression's predictions, or the log scores of a classification's labels, (rows,)."""


class Looks(list[tuple[Seen, Level | None]]):
    """Of the same rows each time, with the level of the rows that a regression was trained on."""

    def packed(self) -> dict[str, np.ndarray]:
        """As arrays, look by look."""
        if not self:
            return {}
        found, levels = zip(*self, strict=True)
        if isinstance(found[0], np.ndarray):
            return {"log_scores": np.stack(found)}
        parts = zip(Predicted._fields, zip(*found, strict=True), strict=True)
        level_parts = zip(Level._fields, zip(*levels, strict=True), strict=True)
        arrays = {name: np.stack(values) for name, values in parts}
        return arrays | {f"level.{name}": np.stack(values) for name, values in level_parts}

    def unpack(self, arrays: dict[str, np.ndarray]) -> None:
        """The looks that these arrays were made of, in place of those that are here."""
        if "log_scores" in arrays:
            self[:] = [(each, None) for each in arrays["log_scores"]]
            return
        found = zip(*(arrays.get(name, ()) for name in Predicted._fields), strict=True)
        levels = zip(*(arrays.get(f"level.{name}", ()) for name in Level._fields), strict=True)
        self[:] = [(Predicted(*a), Level(*b)) for a, b in zip(found, levels, strict=True)]
