"""Pruned networks of the literature for MNIST: inputs and hidden units that remain, and the printed error.

LeNet-300-100 as tabulated by Dai et al., "Compressing neural networks using the variational information bottleneck"
(2018), who quote Molchanov et al. (2017, Sparse VD), Louizos, Ullrich and Welling (2017, BC-GNJ, BC-GHS) and Louizos,
Welling and Kingma (2018, L0). LeNet-500-300 from Neklyudov et al. (2017, SBP), whose error is given as Evci et al.
quote it (2020, "Rigging the lottery", table 2), with one digit.
"""

from __future__ import annotations

from typing import NamedTuple


class Point(NamedTuple):
    """A pruned network as printed: the task it belongs to, the units kept by layer, the test error."""

    name: str
    task: str
    kept: tuple[int, ...]
    error: float

    @property
    def units(self) -> int:
        """Inputs and hidden units."""
        return sum(self.kept)


POINTS = (
    Point("VIBNet", "lenet_300_100", (97, 71, 33), 0.016),
    Point("L0", "lenet_300_100", (266, 88, 33), 0.018),
    Point("BC-GNJ", "lenet_300_100", (278, 98, 13), 0.018),
    Point("BC-GHS", "lenet_300_100", (311, 86, 14), 0.018),
    Point("Sparse VD", "lenet_300_100", (512, 114, 72), 0.018),
    Point("SBP", "lenet_500_300", (245, 160, 55), 0.016),
)


def points_of(task: str) -> list[Point]:
    """Those of one starting network; no two of them have the same number of units."""
    return [point for point in POINTS if point.task == task]


def kept_by_layer(task: str, units: int) -> tuple[int, ...]:
    """What the network of that many units keeps of each layer."""
    return next(point.kept for point in points_of(task) if point.units == units)
