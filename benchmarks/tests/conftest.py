"""Small made-up problems for the benchmark tests."""

import numpy as np
import pytest

from tdamp_bench.core.problems import Problem


@pytest.fixture
def blobs():
    """Three noisy class centres in 12 dimensions: 120 rows to train on, 60 to test."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3, 12))
    y = rng.integers(0, 3, 180).astype(np.int32)
    x = (centres[y] + 0.5 * rng.standard_normal((180, 12))).astype(np.float32)
    return Problem("classification", x[:120], y[:120], x[120:], y[120:])


@pytest.fixture
def lines():
    """Two splits of a noisy linear function: 61 rows to train on, so that batches of 20 leave a ragged one."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((81, 4)).astype(np.float32)
    y = (x @ rng.standard_normal((4, 1)) + 0.1 * rng.standard_normal((81, 1))).astype(np.float32)
    return [
        Problem("regression", x[o[:61]], y[o[:61]], x[o[61:]], y[o[61:]]) for o in (np.arange(81), np.arange(81)[::-1])
    ]
