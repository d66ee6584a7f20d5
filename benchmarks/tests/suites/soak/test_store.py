"""Finished problems on disk."""

from __future__ import annotations

import pytest

from tdamp_bench.suites.soak.plan import FULL, QUICK
from tdamp_bench.suites.soak.store import Store


def test_the_store_drops_a_line_that_was_cut_off(tmp_path, line):
    """identity: what was written whole is read again, and the next line stands on its own."""
    path = tmp_path / "soak.jsonl"
    Store(path, QUICK).add(line())
    with path.open("a") as file:
        file.write('{"kind": "prob')
    again = Store(path, QUICK)
    assert len(again.lines) == 1
    again.add(line(wrong=["diverged"]))
    assert [bool(result["faults"]) for result in Store(path, QUICK).lines] == [False, True]
    with pytest.raises(ValueError, match="another plan"):
        Store(path, FULL)
