"""`tdamp bench pruning` on a made-up table: a line for each trial, the report, and going on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tdamp_bench.suites.pruning import run, trial
from tdamp_bench.suites.pruning.tables import Rows, Table


def draw(seed):
    """Two columns that matter, a copy, and two that do not."""
    x = np.random.default_rng(seed).standard_normal((150, 4))
    return Rows(np.column_stack([x, x[:, 0]]), (x[:, 0] + x[:, 1] > 0).astype(int), [[2, 3]])


@pytest.mark.extended
def test_quick_run_writes_and_resumes(tmp_path, monkeypatch, console):
    """contract: legal JSON, sizes as asked, a plot; a second run makes no trial again."""
    monkeypatch.setitem(run.TABLES, "moons", Table("moons", True, (4,), draw))
    out = tmp_path / "pruning.json"
    run.run(["moons"], quick=True, out=out, console=console)
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    (result,) = report["trials"]
    assert result["full"]["groups"] == result["full"]["total"] == 8 and result["pruned"]["groups"] == 2
    assert result["pruned"]["lost"] == pytest.approx(result["full"]["quality"] - result["pruned"]["quality"])
    assert 2 <= result["auto"]["groups"] <= 8 and result["auto"]["lost_log_score_se"] > 0
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG" and "| moons |" in run.block(report)

    monkeypatch.setattr(trial, "run", lambda *_, **__: pytest.fail("a finished trial was made again"))
    run.run(["moons"], quick=True, out=out, console=console)
    assert json.loads(out.read_text())["trials"] == report["trials"]
