"""The dense layer z = u W + b: every output sees every input.

Density: prod_(i,m) delta(z_im - sum_n u_in W_nm - b_m). Oracle: the loop transcription in tests/oracles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jax import Array

from .base import Linear
from .maps import Flatten, Map, Places


@dataclass(frozen=True)
class Dense(Linear):
    """A matrix product, its transposes written out; `units` outputs, or as many as the network's widths say."""

    name: str = field(default="dense", init=False)
    units: int | None = None

    def __post_init__(self) -> None:
        """Refuse a number of units that is none."""
        if self.units is not None and (not isinstance(self.units, int) or self.units < 1):
            raise ValueError(f"Dense(units={self.units!r}): expected a whole number of at least 1")

    def placed(self, before: Places) -> tuple[Linear, tuple[Map, ...], Places]:
        """On single units."""
        return DENSE, (Flatten(),) if before else (), ()

    def mix(self, u: Any, w: Any) -> Any:
        """u W."""
        return u @ w

    def weight_adjoint(self, u: Array, s: Array, like: Array) -> Array:
        """u' s."""
        return u.T @ s

    def input_adjoint(self, s: Array, w: Array, like: Array) -> Array:
        """s W'."""
        return s @ w.T


DENSE = Dense()
