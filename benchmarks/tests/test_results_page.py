"""The page of results: its check sees what older rules have left in results/."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = runpy.run_path(str(ROOT / "docs" / "results.py"))


def test_verdicts_by_older_rules_are_seen(tmp_path: Path) -> None:
    """twin: a figure and a study judged anew from their runs; one whose verdict was changed, or that lacks one, is
    named, and nothing is run or written."""
    for name in ("federated-skew", "state-evolution"):
        shutil.copytree(ROOT / "results" / name, tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert PAGE["stale"](tmp_path) == []
    for name, change in (("federated-skew", {"claim": "federated"}), ("state-evolution", {"tied": True})):
        path = tmp_path / name / f"{name}.json"
        made = json.loads(path.read_text())
        made["verdicts"][-1] |= change
        path.write_text(json.dumps(made))
        assert PAGE["stale"](tmp_path) == [name]
        path.write_bytes(before[path])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
