"""Hostile streams."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp_bench.suites.soak import streams


def test_a_stream_begins_clean_and_drifts():
    """contract: the first batch has unit scale; the scale then stays within its decades and uses them."""
    kind = streams.Kind("regression", False)
    rng = np.random.default_rng(0)
    sizes = [np.abs(x).mean() for x, _ in streams.batches(kind, streams.concept_of(kind, rng), rng, 10_000)]
    assert sizes[0] == pytest.approx(np.sqrt(2 / np.pi), rel=0.2)
    assert 1e-7 < min(sizes) < 1e-5 and 1e5 < max(sizes) < 1e7
