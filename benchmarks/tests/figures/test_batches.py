"""Runs in batches."""

import json

import pytest
from figure_toys import Toy

from tdamp_bench.core.jobs import Run
from tdamp_bench.figures import batches, tasks
from tdamp_bench.figures.store import Key, Store


@pytest.mark.parametrize(
    ("small", "together", "sizes"), [(True, True, [6, 6]), (False, True, [2] * 6), (False, False, [1] * 12)]
)
def test_batches(small, together, sizes):
    """contract: two configurations, three seeds, two shares."""
    keys = [Key("d", "m", config, keep, seed, 3, "test") for config in "ab" for seed in range(3) for keep in (1.0, 0.5)]
    result = batches.batches(keys, small, together)
    assert [len(batch) for batch in result] == sizes and [key for batch in result for key in batch] == keys


def test_a_method_must_give_every_epoch(toys, tmp_path):
    """contract: a curve that is too short, and a run that is missing."""
    task = tasks.mnist(quick=True)
    keys = [Key("mnist", "tdamp", json.dumps({"rate": 0.1}), 1.0, 0, 3, "test")]
    for runs in ([Run([1.0], 1)], []):
        method = Toy()
        method.train = lambda *_, runs=runs: runs
        with pytest.raises(batches.BrokenContract, match="expected 3 each"):
            batches.run_missing(keys, Store(tmp_path / "runs.jsonl"), method, task)
