"""`tdamp bench growth`: the files of a run."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from tdamp_bench.methods.baselines import gemm
from tdamp_bench.suites.growth import epochs, law, run


def test_run_writes_all_series(tmp_path, monkeypatch):
    """contract: seconds proportional to the products give exponents of one, a table, legal JSON and a plot."""
    monkeypatch.setattr(epochs, "Timed", lambda case, *_: type("Made", (), {"case": case})())

    def made_up(timed, plan, tick):
        return [[gemm.epoch_flops(t.case.kept_widths, t.case.rows) / 1e9] * 3 for t in timed], [{"rate": 1e9}]

    monkeypatch.setattr(epochs, "interleaved", made_up)
    out, console = tmp_path / "growth.json", Console(file=io.StringIO(), width=160)
    run.run(quick=True, out=out, console=console)
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert all(verdict["met"] for verdict in report["verdicts"]) and list(report["laws"]) == list(law.SIZES)
    for result in report["laws"].values():
        assert result["by_median"]["exponent"] == pytest.approx(1) and result["roofline_share"] == pytest.approx(1)
    assert report["laws"]["depth"]["by_weights"]["exponent"] != pytest.approx(1, abs=0.01)  # nine products against four
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG" and "Power laws" in console.file.getvalue()
