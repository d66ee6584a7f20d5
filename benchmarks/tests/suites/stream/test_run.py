"""`tdamp bench stream`: a quick run, verdicts, options."""

import io
import json

import pytest
from rich.console import Console

from tdamp.cli import main
from tdamp_bench.suites.stream import probe, run


def test_quick_run(tmp_path, monkeypatch):
    """contract: legal JSON with a fit for each size and one in memory, a plot, and no Parquet file left."""
    monkeypatch.setattr(probe, "ask", lambda **asked: probe.measure(**asked))  # the processes are tried by hand
    monkeypatch.setattr(run, "QUICK", run.Plan(rows=(15, 18), inputs=2, hidden=(4,), epochs=1, test=20))
    out, console = tmp_path / "stream.json", Console(file=io.StringIO(), width=160)
    folder = tmp_path / "files"
    folder.mkdir()
    report = run.run(quick=True, out=out, folder=folder, console=console)
    json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert [(fit["how"], fit["rows"]) for fit in report["fits"]] == [("memory", 15), ("stream", 15), ("stream", 18)]
    for fit in report["fits"]:
        assert fit["data_bytes"] == fit["rows"] * 12 and fit["peak_bytes"] >= fit["before_bytes"] > 0 < fit["rmse"]
    assert list(folder.iterdir()) == [] and out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    assert "18 rows, source" in console.file.getvalue()


@pytest.mark.parametrize("peak, rmse, met", [(1.05, 0.31, [True, True, True]), (1.2, 0.4, [False, False, False])])
def test_verdicts(peak, rmse, met):
    """contract: what is kept and what is missed; the fewest rows' error is 0.303 in memory."""
    fits = [
        {"rmse": 0.303, "peak_bytes": 9},
        {"rmse": rmse - 0.005, "peak_bytes": 1},
        {"rmse": rmse, "peak_bytes": peak},
    ]
    assert [verdict.met for verdict in run.verdicts(fits)] == met


def test_options():
    """contract: what the command line hands on."""
    chosen = main.parser().parse_args(["bench", "stream", "--quick", "--folder", "there"])
    assert chosen.quick and chosen.out is None and chosen.folder.name == "there"
