"""Jobs: the loss of a run and the units it is asked to keep."""

import math

import numpy as np
import pytest

from tdamp_bench.core.jobs import loss_of, n_keep
from tdamp_bench.core.problems import Problem


def test_loss_and_units_by_hand():
    """identity: two of three labels right; NaN outputs are an infinite loss; every layer keeps a unit."""
    y = np.array([0, 1, 1])
    problem = Problem("classification", np.zeros((3, 1)), y, np.zeros((3, 1)), y)
    assert loss_of(np.array([[1.0, 0], [0, 1.0], [1.0, 0]]), problem) == pytest.approx(1 / 3)
    assert loss_of(np.full((3, 2), np.nan), problem) == math.inf
    assert [n_keep((13, 64, 64, 1), k) for k in (1, 0.5, 0.05, 0.001)] == [141, 70, 7, 3]
