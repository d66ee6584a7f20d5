"""Means and standard deviations of columns that go by, chunk after chunk."""

from __future__ import annotations

import numpy as np

from ..numerics.scaling import input_scale, mean_and_std, nonzero_share, std_or_one


class RunningScales:
    """Weighted mean, standard deviation and share of nonzero rows of each column of all chunks so far, in float64.

    Two parts of the rows with shares a and b, means m and n, have the mean m + b (n - m), and the squares of their
    standard deviations come together as a s^2 + b t^2 + a b (m - n)^2 (Chan, Golub and LeVeque): nothing is taken off,
    so nothing cancels. Oracle: `mean_and_std` and `nonzero_share` of numerics.scaling on all rows at once.
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self.mean, self.std, self.nonzero = np.zeros((3, 1))  # one for each column, from the first chunk on

    def add(self, values: np.ndarray, weight: np.ndarray) -> None:
        """Add some rows; the sum of their weights must be above zero."""
        mean, std = mean_and_std(values, weight)
        total = self.weight + float(weight.sum())
        a, b = self.weight / total, float(weight.sum()) / total
        apart = np.sqrt(a * b) * (mean - self.mean)
        self.std = np.hypot(np.hypot(np.sqrt(a) * self.std, np.sqrt(b) * std), apart)  # squares could overflow
        self.mean = self.mean + b * (mean - self.mean)
        self.nonzero = a * self.nonzero + b * nonzero_share(values, weight)
        self.weight = total

    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation; a constant column gets scale one."""
        return self.mean, std_or_one(self.mean, self.std)

    def input_scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and scale of inputs, whose columns may be mostly zero."""
        return self.mean, input_scale(self.mean, self.std, self.nonzero)
