"""The published networks."""

import pytest

from tdamp.engine.network import n_multiply_adds
from tdamp_bench.suites.compression.published import POINTS, kept_by_layer, points_of
from tdamp_bench.suites.compression.tasks import LENETS

PRINTED = {
    "VIBNet": (3.59, 16.98),
    "L0": (10.01, 32.69),
    "BC-GNJ": (10.76, 32.85),
    "BC-GHS": (10.55, 34.71),
    "Sparse VD": (25.28, 58.95),
}
"""Per cent of the weights and of the units, from the same table."""


@pytest.mark.parametrize("name", PRINTED)
def test_shares_are_those_printed(name):
    """golden(shares of weights and units in table 1 of Dai et al., 2018): the widths lead to them."""
    point = next(point for point in POINTS if point.name == name)
    start = LENETS[point.task]
    weights = n_multiply_adds((*point.kept, 10)) / n_multiply_adds(start)
    assert (round(100 * weights, 2), round(100 * point.units / sum(start[:-1]), 2)) == pytest.approx(PRINTED[name])


def test_a_number_of_units_names_a_network():
    """contract: no two of a task are alike, and each fits into its start."""
    for task, start in LENETS.items():
        units = [point.units for point in points_of(task)]
        assert len(set(units)) == len(units) > 0
        for point in points_of(task):
            assert kept_by_layer(task, point.units) == point.kept
            assert all(some <= width for some, width in zip(point.kept, start, strict=False))
