"""Seconds per epoch as arrays become smaller."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.core import presets
from tdamp_bench.suites.speed import compaction


def test_compaction_compares_the_full_arrays_with_the_smaller_ones():
    """identity: the first compilation is left out, those of the smaller arrays are not."""
    found = compaction.compare([9.0, 1.0, 1.0, 2.0, 0.4, 0.2], [10, 10, 10, 5, 2, 2])
    assert found["ratio"] == pytest.approx(2.6 / 3) and found["steady"] == pytest.approx(0.4)
    assert np.isnan(compaction.compare([1.0, 1.0], [10, 10])["ratio"])


def test_compaction_piece(blobs):
    """contract: A pruned training is timed epoch by epoch."""
    settings = replace(presets.sparse(0.5), batch_size=20)
    found = compaction.measure(blobs, (12, 16, 3), settings, epochs=8)
    assert len(found["seconds"]) == 8 and found["units_during"][0] == 28 and found["units_after"][-1] == 14
