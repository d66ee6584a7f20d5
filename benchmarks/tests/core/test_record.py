"""Reports on disk."""

import json

import numpy as np

from tdamp_bench.core import record


def test_reports_keep_the_parts_of_earlier_runs(tmp_path):
    """identity: save, save another part, read."""
    path = tmp_path / "results" / "x.json"
    verdict = record.Verdict("a", float("nan"), "<=", 1.0)
    assert not verdict.met
    record.save(path, "x", {"one": record.part({"a": np.float32(0.1), "b": (np.arange(2),)}, [verdict], {})})
    record.save(path, "x", {"two": {}})
    parts = json.loads(path.read_text())["parts"]
    assert parts["one"]["a"] == 0.1 and parts["one"]["b"] == [[0, 1]] and parts["two"] == {}
    assert parts["one"]["verdicts"][0]["met"] is False


def test_surroundings_have_no_paths_or_names():
    """contract: versions and hardware only."""
    result = record.surroundings()
    assert result["versions"]["jax"] and result["cores"] >= 1
    assert "/" not in json.dumps(result["versions"]) and "host" not in json.dumps(result).lower()
