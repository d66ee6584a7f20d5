"""Missing numbers: the training median in their place, and a column that marks them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cells import Cells


@dataclass(frozen=True)
class Filling:
    """What a column of numbers becomes: its values, the marks of missing cells, or both."""

    median: float
    values: bool  # false when all cells there were equal, so that only the marks say something
    marks: bool  # true when training had missing cells

    @classmethod
    def fit(cls, numbers: np.ndarray) -> Filling:
        """Of float64 numbers with NaN, at least one of them a number."""
        there = np.sort(numbers[~np.isnan(numbers)])
        low, high = there[(len(there) - 1) // 2], there[len(there) // 2]
        # halves first: the sum of two large numbers overflows
        median = float(low) if low == high else float(low / 2 + high / 2)
        return cls(median, bool(there[0] != there[-1]), len(there) < len(numbers))

    @property
    def constant(self) -> bool:
        """Whether nothing varies at all."""
        return not (self.values or self.marks)

    def columns(self, numbers: np.ndarray) -> np.ndarray:
        """(rows, 1 or 2) without NaN."""
        gone = np.isnan(numbers)
        both = [np.where(gone, self.median, numbers)] * self.values + [gone.astype(np.float64)] * self.marks
        return np.stack(both, axis=1)

    def names(self, value: str, column: str) -> tuple[str, ...]:
        """Of the matrix columns."""
        return (value,) * self.values + (f"{column} is missing",) * self.marks

    def fit_note(self, cells: Cells, median: str) -> list[str]:
        """What was done about missing cells in training."""
        if not self.marks:
            return []
        start = f"Column {cells.name}: {int(cells.missing.sum())} of {len(cells.values)} cells are missing"
        if not self.values:
            return [f"{start} and all others are {median}: only whether a cell is missing is used."]
        return [f"{start}, filled with the median {median} and marked by a column of its own."]

    def new_note(self, cells: Cells, median: str) -> list[str]:
        """What was done about cells missing now that were all there in training."""
        gone = int(cells.missing.sum())
        if self.marks or not gone:
            return []
        return [
            f"Column {cells.name}: {gone} of {len(cells.values)} cells are missing, though none was in training: "
            f"filled with the median {median}."
        ]
