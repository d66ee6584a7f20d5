"""Compilation and memory, measured in processes of their own."""

import gzip

import numpy as np
import pytest

from tdamp.datasets import load_mnist
from tdamp.datasets.mnist import IDX
from tdamp_bench.core import problems
from tdamp_bench.suites.speed import probe


def test_probe_measures_compilation_in_a_fresh_process():
    """contract: The first epoch takes longer than the others."""
    result = probe.ask(what="compile", sweeps=1, layers=2, rows=100)
    assert result["compile"] > 0 and result["layers"] == 2
    with pytest.raises(RuntimeError, match="failed"):
        probe.ask(what="nothing")


def test_probe_measures_memory(tmp_path, monkeypatch):
    """contract: Peak and state sizes of a training on made-up digits."""
    rng = np.random.default_rng(0)
    for name in (file.name for file in IDX):
        shape = (200, 28, 28) if "images" in name else (200,)
        header = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        (tmp_path / name).write_bytes(gzip.compress(header + rng.integers(0, 10, shape, np.uint8).tobytes()))
    monkeypatch.setattr(problems, "load_mnist", lambda: load_mnist(tmp_path, verify=False))
    result = probe.memory(rows=None, epochs=1)
    assert result["weight_bytes"] >= 4 * (784 * 128 + 1280) and result["peak_bytes"] > result["state_bytes"]
