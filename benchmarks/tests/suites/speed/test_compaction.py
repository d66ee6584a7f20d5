"""Seconds per epoch as arrays become smaller."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.core import presets
from tdamp_bench.suites.speed import compaction


def test_compaction_compares_the_full_arrays_with_the_smaller_ones():
    """identity: the first compilation is left out, those of the smaller arrays are not."""
    result = compaction.compare([9.0, 1.0, 1.0, 2.0, 0.4, 0.2], [10, 10, 10, 5, 2, 2])
    assert result["ratio"] == pytest.approx(2.6 / 3) and result["steady"] == pytest.approx(0.4)
    assert np.isnan(compaction.compare([1.0, 1.0], [10, 10])["ratio"])


def test_compaction_piece(blobs):
    """contract: A pruned training is timed epoch by epoch."""
    settings = replace(presets.sparse(0.5), batch_size=20)
    result = compaction.measure(blobs, (12, 16, 3), settings, epochs=8)
    assert len(result["seconds"]) == 8 and result["units_during"][0] == 28 and result["units_after"][-1] == 14
