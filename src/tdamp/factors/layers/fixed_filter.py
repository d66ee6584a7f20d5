"""Filters that are given, not learned: a front end on the data.

u_pk = f(sum_t x_(p stride + t) F_tk), the same at every place, f being the activation it names (engine.network applies
it). Data are known, so this is a function of numbers, exact, and only before the first layer that learns.
Oracle: the sum written out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .maps import Pad, Places
from .patches import fitted, patches


@dataclass(frozen=True)
class FixedFilter:
    """`weights[t1][t2][n][k]`, by taps along each axis, channels of the input and filters: array or nested tuples."""

    name: str = field(default="fixed_filter", init=False)
    weights: Any = ()
    stride: int | tuple[int, ...] = 1
    padding: str = "same"
    activation: str = "identity"

    def __post_init__(self) -> None:
        """Numbers become nested tuples, which can be compared and stored."""
        table = np.asarray(self.weights, np.float64)
        if table.ndim < 3 or not table.size or not np.isfinite(table).all():
            raise ValueError(
                f"FixedFilter: weights have the shape {table.shape}, expected finite (taps, ..., channels, filters)"
            )
        object.__setattr__(self, "weights", _nested(table.tolist()))

    @property
    def table(self) -> np.ndarray:
        """The weights as an array."""
        return np.asarray(self.weights, np.float64)

    @property
    def units(self) -> int:
        """Filters."""
        return self.table.shape[-1]

    def check(self, before: Places, channels: int) -> None:
        """Raise ValueError for an input of other places or channels."""
        if len(before) != self.table.ndim - 2 or self.table.shape[-2] != channels:
            raise ValueError(
                f"FixedFilter: weights have the shape {self.table.shape}, the input {(*before, channels)}: expected "
                "taps along each axis of places, then as many channels as the input has, then filters"
            )

    def places(self, before: Places) -> Places:
        """The places of its output."""
        return fitted(before, *self._sides, self.padding)[1]

    def __call__(self, x: Any) -> Any:
        """The filtered data before the activation, (rows, *places, filters); NumPy or JAX."""
        kernel, stride = self._sides
        margins, _ = fitted(x.shape[1:-1], kernel, stride, self.padding)
        return patches(Pad(margins).plain(x), kernel, stride) @ self.table.reshape(-1, self.units).astype(x.dtype)

    @property
    def _sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        kernel = self.table.shape[:-2]
        return kernel, self.stride if isinstance(self.stride, tuple) else (self.stride,) * len(kernel)

    def n_multiply_adds(self, before: Places) -> int:
        """Of one row."""
        return int(np.prod(self.places(before))) * self.table.size


def _nested(values: Any) -> Any:
    return tuple(map(_nested, values)) if isinstance(values, list) else float(values)
