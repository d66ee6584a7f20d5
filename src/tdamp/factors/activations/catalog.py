"""The activations by name: the regions of each, and the PyTorch module that is the same function.

Regions alone say what training, prediction, ONNX and NumPy files need; PyTorch has modules of its own for the usual
activations, so that each entry names its module. A new activation is one entry here and its plain function in
tests/oracles/quadrature.py; tests/exams/test_activations.py examines every entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, isclose, isfinite
from typing import NamedTuple

from .piecewise import Region


class TorchModule(NamedTuple):
    """A class of torch.nn by its name, and the arguments it is called with."""

    name: str
    arguments: tuple[float, ...] = ()


@dataclass(frozen=True)
class Activation:
    """A continuous piecewise-linear function: its regions from left to right, and its module in PyTorch."""

    regions: tuple[Region, ...]
    torch: TorchModule

    def __post_init__(self) -> None:
        """Refuse regions that leave a gap, overlap, or do not meet: the factor and the exports count on it."""
        bounds = [-inf, *(region.high for region in self.regions)]
        if not self.regions or bounds[-1] != inf or any(a >= b for a, b in pairwise(bounds)):
            raise ValueError(f"regions {self.regions}: expected bounds that rise from -inf to inf")
        if [region.low for region in self.regions] != bounds[:-1]:
            raise ValueError(f"regions {self.regions}: each must begin where the one before it ends")
        for region in self.regions:
            if not (isfinite(region.slope) and isfinite(region.intercept)):
                raise ValueError(f"{region}: slope and intercept must be finite")
        for left, right in pairwise(self.regions):
            values = [region.slope * left.high + region.intercept for region in (left, right)]
            if not isclose(*values, rel_tol=1e-12, abs_tol=1e-12):
                raise ValueError(f"at {left.high} the function jumps from {values[0]} to {values[1]}: lines must meet")


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(
        (Region(-inf, 0.0, 0.0), Region(0.0, inf, 1.0)),
        torch=TorchModule("ReLU"),
    ),
    "leaky_relu": Activation(
        (Region(-inf, 0.0, 0.01), Region(0.0, inf, 1.0)),
        torch=TorchModule("LeakyReLU", (0.01,)),
    ),
    "abs": Activation(
        (Region(-inf, 0.0, -1.0), Region(0.0, inf, 1.0)),
        torch=TorchModule("LeakyReLU", (-1.0,)),
    ),
    "hard_tanh": Activation(
        (Region(-inf, -1.0, 0.0, -1.0), Region(-1.0, 1.0, 1.0), Region(1.0, inf, 0.0, 1.0)),
        torch=TorchModule("Hardtanh"),
    ),
    "identity": Activation(
        (Region(-inf, inf, 1.0),),
        torch=TorchModule("Identity"),
    ),
}
