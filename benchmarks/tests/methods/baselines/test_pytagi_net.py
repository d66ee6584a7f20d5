"""pytagi as a classifier."""

import numpy as np

from tdamp_bench.core.problems import Problem
from tdamp_bench.methods.baselines.pytagi_net import Learner
from tdamp_bench.methods.baselines.start import Orders


def test_pytagi_learns_ten_classes_with_eleven_outputs():
    """contract: The labels' tree codes and the rows belong together: far better than chance on separated classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 600).astype(np.int32)
    x = (2 * np.eye(10)[y] + 0.2 * rng.standard_normal((600, 10))).astype(np.float32)
    learner = Learner(Problem("classification", x[:500], y[:500], x[500:], y[500:]), hidden=32, batch=50, seed=0)
    assert learner.metric.hrc_softmax.len == 11
    orders = Orders(500, seed=0)
    for _ in range(6):
        learner.epoch(next(orders))
    assert (learner.labels(x[500:]) == y[500:]).mean() > 0.8
