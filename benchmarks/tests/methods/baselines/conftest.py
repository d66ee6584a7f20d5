"""A table for the regression baselines."""

import numpy as np
import pytest

from tdamp_bench.suites.uci.tasks import Task


@pytest.fixture
def line() -> tuple[Task, np.ndarray]:
    """y = 2 x_0 - x_1 + noise of deviation 0.5, 80 rows to learn and 40 to predict, all of them standardised."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, 2))
    y = 2 * x[:, 0] - x[:, 1] + 0.5 * rng.standard_normal(120)
    x, y = (x - x[:80].mean(0)) / x[:80].std(0), (y - y[:80].mean()) / y[:80].std()
    x, y = x.astype(np.float32), y.astype(np.float32)
    return Task(0, 20, x[:80], y[:80], x[80:]), y[80:]
