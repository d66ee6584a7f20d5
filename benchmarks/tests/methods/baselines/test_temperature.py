"""Temperature scaling."""

import numpy as np
import pytest

from tdamp_bench.core.scoring import nll
from tdamp_bench.methods.baselines import temperature


def test_temperature_against_a_grid():
    """enumeration: no temperature of a fine grid is better; scores thrice as large want thrice the temperature."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 400)
    outputs = 4 * (rng.standard_normal((400, 4)) + np.eye(4)[y])
    result = temperature.fit_temperature(outputs, y)
    grid = np.exp(np.linspace(-2, 3, 2001))
    losses = [nll(temperature.scaled(outputs, t), y) for t in grid]
    assert result == pytest.approx(grid[np.argmin(losses)], rel=5e-3) and result > 1.5
    assert nll(temperature.scaled(outputs, result), y) <= min(losses) + 1e-9
    assert temperature.fit_temperature(3 * outputs, y) == pytest.approx(3 * result, rel=1e-3)
