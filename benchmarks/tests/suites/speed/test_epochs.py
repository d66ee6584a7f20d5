"""Seconds per epoch, of tdamp and its peers in turn."""

from dataclasses import replace

import pytest

from tdamp_bench.core import presets
from tdamp_bench.suites.speed import epochs


def test_epochs_are_interleaved(blobs):
    """contract: every peer runs once after each epoch of tdamp, and the warm-up is left out."""
    calls = []

    def peer():
        calls.append(len(ticks))
        return 2.0

    ticks = []
    settings = replace(presets.MNIST, batch_size=20)
    seconds = epochs.interleaved(blobs, (12, 8, 3), settings, {"adam_torch": peer}, 3, 1, ticks.append)
    assert calls == [0, 1, 2, 3] and seconds["adam_torch"] == [2.0] * 3 and len(seconds["tdamp"]) == 3


def test_epoch_summary_by_hand():
    """identity: medians, roofline and ratios."""
    seconds = {"tdamp": [1.0, 2.0, 9.0], "adam_torch": [4.0] * 3, "pytagi": [30.0] * 3}
    result = epochs.summary(seconds, (784, 128, 10), 1000, rate=8.258560e8)
    assert result["roofline_seconds"] == pytest.approx(1.0, rel=1e-3)
    assert result["ratios"] == pytest.approx(
        {"roofline_share": 0.5, "tdamp_over_torch": 0.5, "pytagi_over_tdamp": 15.0}, rel=1e-3
    )
    assert all(verdict.met for verdict in epochs.verdicts(result))
