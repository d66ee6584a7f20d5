"""Scales of the columns of a table, and its rows in units of them."""

from __future__ import annotations

import numpy as np

FURTHEST = 1e12
"""Standard deviations from the mean: the squares of more, summed, come near the end of float32."""
CONSTANT = 1e-10
"""A column whose standard deviation is below this share of its mean is constant but for rounding."""
SPARSE = 0.25
"""An input that is zero but for a smaller share of the rows than this has the scale it would have if the share were
this large. The standard deviation of such a column (a pixel at the edge, counts of a rare word, a rare category) says
how often it is not zero rather than in what unit it is; divided by it, the rarest cells would be the largest."""


def scales_of(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of each column, in float64; a constant column gets scale one."""
    mean, std = mean_and_std(values, weight)
    return mean, std_or_one(mean, std)


def input_scales(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`scales_of` for inputs, whose columns may be mostly zero."""
    mean, std = mean_and_std(values, weight)
    return mean, input_scale(mean, std, nonzero_share(values, weight))


def channel_scales(mean: np.ndarray, std: np.ndarray, n_channels: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each channel over all places, for each column, of those of the columns.

    Columns come place by place, and within a place channel by channel. A constant channel gets scale one.
    """
    means, stds = mean.reshape(-1, n_channels), std.reshape(-1, n_channels)
    middle = means.mean(0)
    spread = np.hypot.reduce(np.hypot(stds, means - middle), 0) / np.sqrt(len(means))  # squares could overflow
    return np.tile(middle, len(means)), np.tile(std_or_one(middle, spread), len(means))


def nonzero_share(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted share of the rows in which each column is not zero."""
    return (weight / weight.sum()) @ (values != 0)


def input_scale(mean: np.ndarray, std: np.ndarray, nonzero: np.ndarray) -> np.ndarray:
    """The scale of columns that are `nonzero` in such shares of the rows: their standard deviation, but for SPARSE."""
    rare = (nonzero > 0) & (nonzero < SPARSE)
    return std_or_one(mean, std) * np.sqrt(np.where(rare, SPARSE / np.where(rare, nonzero, 1.0), 1.0))


def mean_and_std(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of each column, in float64."""
    share = weight / weight.sum()
    wide = values.astype(np.float64)
    size = np.maximum(np.abs(wide).max(0), np.finfo(np.float64).tiny)  # squares of huge numbers would overflow
    mean = share @ (wide / size) * size
    return mean, np.sqrt(share @ np.square((wide - mean) / size)) * size


def std_or_one(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """One where the column is constant but for rounding, or its standard deviation where huge numbers make it more."""
    return np.where(std > CONSTANT * np.abs(mean), std, np.maximum(1.0, std))


def scaled(name: str, values: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Columns in units of their scale, in float32; ValueError for a number that is too far away."""
    with np.errstate(over="ignore"):
        result = (values - mean) / scale
    if max(result.max(initial=0), -result.min(initial=0)) > FURTHEST:
        row, column = np.argwhere(np.abs(result) > FURTHEST)[0]
        raise ValueError(
            f"{name} has {values[row, column]:g} (column {column}): {abs(result[row, column]):.1g} times the scale of "
            f"the training data ({scale[column]:g}) from their mean ({mean[column]:g}), above {FURTHEST:g}; check its "
            "unit, or fit with standardize=True on rows of this kind"
        )
    return result.astype(np.float32)


def identity_scales(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of zero and scales of one: columns stay as they are."""
    return np.zeros(n), np.ones(n)


class ScaledRows:
    """Rows scaled to the engine's units when they are asked for, by slices: a memory map is not copied whole."""

    def __init__(self, values: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> None:
        self.values, self.mean, self.scale = values, mean, scale

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return scaled("X", self.values[rows], self.mean, self.scale)
