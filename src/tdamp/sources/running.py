"""Means and standard deviations of columns that go by, block after block."""

from __future__ import annotations

import numpy as np

from ..rows import mean_and_std, std_or_one


class Running:
    """Weighted mean and standard deviation of each column of all blocks so far, in float64.

    Two parts of the rows with shares a and b, means m and n, have the mean m + b (n - m), and the squares of their
    standard deviations come together as a s^2 + b t^2 + a b (m - n)^2 (Chan, Golub and LeVeque): nothing is taken off,
    so nothing cancels. Oracle: `rows.mean_and_std` of all rows at once.
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self.mean, self.std = np.zeros(()), np.zeros(())  # one for each column, from the first block on

    def add(self, values: np.ndarray, weight: np.ndarray) -> None:
        """Some more rows; the sum of their weights is above zero."""
        mean, std = mean_and_std(values, weight)
        total = self.weight + float(weight.sum())
        a, b = self.weight / total, float(weight.sum()) / total
        apart = np.sqrt(a * b) * (mean - self.mean)
        self.std = np.hypot(np.hypot(np.sqrt(a) * self.std, np.sqrt(b) * std), apart)  # squares could overflow
        self.mean = self.mean + b * (mean - self.mean)
        self.weight = total

    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation; a constant column gets scale one."""
        return self.mean, std_or_one(self.mean, self.std)
