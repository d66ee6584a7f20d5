"""`tdamp bench soak`: a quick run, resuming, options, and the full campaign."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from tdamp.cli import main
from tdamp_bench.cli.bench import SOAK_PARTS
from tdamp_bench.suites.soak import configuration, problem, run, streams


def test_quick_run_finds_no_fault_and_resumes(tmp_path, monkeypatch):
    """contract: ten problems of one hidden layer and two short streams; a second run has nothing left to do."""
    whole = configuration.draw
    monkeypatch.setattr(
        configuration, "draw", lambda i: replace(whole(i), hidden=(8,), keep=None, prior=("gaussian", "group")[i])
    )
    monkeypatch.setattr(streams, "KINDS", {name: kind for name, kind in streams.KINDS.items() if kind.spoiled})
    out, console = tmp_path / "soak.json", Console(file=io.StringIO(), width=160)
    report = run.run(quick=True, out=out, console=console)
    stored = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert stored["problems"]["problems"] == 10 and stored["problems"]["faults"] == []
    assert list(stored["streams"]) == list(streams.KINDS)
    assert all(verdict["met"] for verdict in stored["verdicts"]), stored["verdicts"]
    assert all(stream["faults"] == [] for stream in stored["streams"].values())
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr(problem, "run", lambda *_: pytest.fail("a problem was run again"))
    monkeypatch.setattr(streams, "run", lambda *_: pytest.fail("a stream was run again"))
    assert run.run(quick=True, out=out, console=console)["problems"] == report["problems"]


def test_options():
    """contract: what the command line hands on."""
    chosen = main.parser().parse_args(["bench", "soak", "--only", "streams", "--quick"])
    assert chosen.only == ["streams"] and chosen.quick and chosen.out is None
    assert SOAK_PARTS == run.PARTS


@pytest.mark.soak
def test_full_soak(tmp_path):
    """contract: 2,000 problems and four streams of 10,000 batches, no fault (half an hour on one core)."""
    report = run.run(out=tmp_path / "soak.json", console=Console(file=io.StringIO()))
    assert [verdict for verdict in report["verdicts"] if not verdict["met"]] == []
