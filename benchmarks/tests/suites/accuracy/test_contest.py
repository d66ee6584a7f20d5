"""One network of the accuracy benchmark."""

from dataclasses import replace

import numpy as np

from tdamp_bench.core import presets
from tdamp_bench.suites.accuracy import contest


def test_tdamp_learns_the_blobs(blobs):
    """contract: The adapter hands over rows and labels in the same order, and both estimates work."""
    settings = replace(presets.MNIST, batch_size=20)
    run, model = contest.train_ours(blobs, (12, 16, 3), settings, epochs=15, seed=0)
    assert run["error"][-1] < 0.1 and run["error_predictive"][-1] < 0.1
    np.testing.assert_allclose(model.predictive(blobs.x_test).sum(1), 1, rtol=1e-5)
    assert model.widths == (12, 16, 3) and model.state_bytes / model.weight_bytes >= 2
