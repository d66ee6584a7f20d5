"""Finished splits on disk."""

import numpy as np

from tdamp_bench.suites.uci import store
from tdamp_bench.suites.uci.scores import summary


def test_two_processes_may_fill_one_file(tmp_path):
    """identity: what one has written is kept by the other; infinity is written as a word and read as a number."""
    one, other = store.Store(tmp_path / "x.json", False), store.Store(tmp_path / "x.json", False)
    scores = {"rmse": 1.0, "nll": np.inf, "coverage": 0.9, "width": 2.0, "seconds": 0.1, "chosen": {}}
    one.add("yacht", "tdamp", 10, scores, {})
    other.add("yacht", "tdamp", 2, scores, {})
    one.reload()
    assert list(one.splits("yacht", "tdamp")) == ["2", "10"]
    assert summary(one.splits("yacht", "tdamp"))["mean"]["nll"] == np.inf
