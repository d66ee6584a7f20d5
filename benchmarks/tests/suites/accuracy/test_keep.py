"""The part of `tdamp bench accuracy` on pruned networks."""

from dataclasses import replace

import pytest

from tdamp_bench.core import presets
from tdamp_bench.suites.accuracy import keep
from tdamp_bench.suites.accuracy.plan import QUICK

PLAN = replace(QUICK, batch=20, mnist_epochs=3, boston_epochs=5, boston_batch=20, keep_epochs=8, keeps=(0.5,))


def test_keep_piece_asserts_the_count(blobs, monkeypatch):
    """contract: Exactly round(keep x 140) of 12 inputs and 128 hidden units are left; another count is an error."""
    result = keep.run(blobs, PLAN, seeds=(0,))
    run = result["by_keep"]["0.5"]["runs"][0]
    assert run["units"][-1] == sum(run["widths"][:-1]) == 70 and len(run["error"]) == 8
    assert [v.limit for v in keep.verdicts(result)] == list(keep.LIMITS[0.5])
    monkeypatch.setattr(keep.presets, "sparse", lambda share: presets.MNIST)
    with pytest.raises(keep.WrongCount, match="140 units are left, not 70"):
        keep.run(blobs, PLAN, seeds=(0,))
