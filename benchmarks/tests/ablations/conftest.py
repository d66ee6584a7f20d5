"""A small network for the ablations."""

import numpy as np
import pytest

from tdamp import Network, Settings
from tdamp.engine.state import State, init
from tdamp_bench.core.problems import Problem


@pytest.fixture
def state(blobs: Problem) -> State:
    """A network of 12, 6 and 3 units before its first epoch."""
    network = Network((12, 6, 3), "classification", "relu")
    return init(network, Settings(max_epochs=3, batch_size=20), np.random.default_rng(0), blobs.x, blobs.y)
