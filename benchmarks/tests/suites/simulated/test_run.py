"""`tdamp bench simulated`: a quick run, resuming, options."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from tdamp.cli import main
from tdamp_bench.suites.simulated import draws, run
from tdamp_bench.suites.simulated.draws import QUICK


def test_quick_run_writes_and_resumes(tmp_path, monkeypatch):
    """contract: legal JSON with both draws, and a plot; one draw more fits that one only; a full run is refused."""
    out, console = tmp_path / "simulated.json", Console(file=io.StringIO(), width=160)
    run.run(draws=1, quick=True, out=out, console=console)
    measure, fitted = run.measure, []
    monkeypatch.setattr(run, "measure", lambda seed, plan: fitted.append(seed) or measure(seed, plan))
    run.run(quick=True, out=out, console=console)
    assert fitted == [1]
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert list(report["draws"]) == ["0", "1"] and report["summary"]["draws"] == 2 and len(report["verdicts"]) == 2
    for seed, one in report["draws"].items():
        assert one["noise_var"] == pytest.approx(np.divide(*draws.draw(int(seed), QUICK)[:-3:-1]), rel=1e-5)
        assert one["epistemic_var"] + one["learned_noise_var"] == pytest.approx(one["total_var"], rel=1e-4)
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    assert "epistemic variance / squared error" in console.file.getvalue()
    with pytest.raises(ValueError, match="another plan"):
        run.run(draws=1, out=out, console=console)


def test_options():
    """contract: what the command line hands on."""
    chosen = main.parser().parse_args(["bench", "simulated", "--draws", "30", "--quick"])
    assert chosen.draws == 30 and chosen.quick and chosen.out is None
