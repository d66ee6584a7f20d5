"""`tdamp bench uci` on made-up tables: a quick run, resuming, and what it does without a peer's library."""

import io
import json
import sys

import numpy as np
import pytest
from rich.console import Console

from tdamp.cli import main
from tdamp.datasets import Table
from tdamp_bench.suites.uci import protocol, run
from tdamp_bench.suites.uci.methods import METHODS
from tdamp_bench.suites.uci.tasks import Answer, Gaussian


@pytest.fixture
def made_up(monkeypatch):
    """Two tables in place of Boston and yacht, of one shape so that programs are compiled once; counts of loads."""
    loads = []

    def load(name):
        loads.append(name)
        rng = np.random.default_rng(len(name))
        x = rng.standard_normal((100, 3))
        return Table(x, 10 + 3 * x[:, 0] + rng.standard_normal(100), ("a", "b", "c"))

    monkeypatch.setattr(run, "load", load)
    return loads


def test_quick_run_writes_and_resumes(made_up, tmp_path, monkeypatch):
    """contract: legal JSON with every method, page and plot; a second run asks no method anything."""
    out, console = tmp_path / "uci.json", Console(file=io.StringIO(), width=200)
    run.run(quick=True, out=out, console=console)
    report = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert list(report["runs"]) == list(protocol.QUICK_SETS)
    assert all(list(methods) == list(METHODS) for methods in report["runs"].values())
    for methods in report["summary"].values():
        assert all(np.isfinite(list(one["mean"].values())).all() and one["splits"] == 1 for one in methods.values())
    assert "tdamp" in report["runs"]["yacht"]["tdamp"]["surroundings"]["versions"]
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    page = out.with_suffix(".md").read_text()
    assert "ethical problem" in page and "| Yacht, 1 of 20 splits |" in page and "quick run" in page
    assert "of the three published" in console.file.getvalue()

    def refuse(tasks, quick):
        pytest.fail("a finished split was run again")

    monkeypatch.setattr(type(METHODS["tdamp"]), "peer", lambda self: refuse)
    run.run(quick=True, out=out, console=console)
    assert json.loads(out.read_text()) == report
    with pytest.raises(ValueError, match="choose another --out"):
        run.run(methods=["tdamp"], out=out, console=console)


def constant(loc):
    """A peer that answers N(loc, 1), and stops at a split of number 2 if `loc` is negative."""

    def peer(tasks, quick):
        for task in tasks:
            if loc < 0 and task.split == 2:
                raise KeyboardInterrupt
            yield Answer(Gaussian(np.full(len(task.x_test), loc), np.ones(len(task.x_test))), 1.0, {"loc": loc})

    return peer


def test_an_interrupted_run_goes_on_where_it_stopped(made_up, tmp_path, monkeypatch):
    """contract: splits before the stop are kept, those after it run; --again replaces; --splits limits."""
    out, console, ends = tmp_path / "uci.json", Console(file=io.StringIO()), iter((-1.0, 5.0, 6.0))
    monkeypatch.setattr(type(METHODS["tdamp"]), "peer", lambda self: constant(next(ends)))
    asked = {"sets": ["yacht"], "methods": ["gp"], "out": out, "console": console}

    def chosen():
        splits = json.loads(out.read_text())["runs"]["yacht"]["gp"]["splits"]
        return {int(split): scores["chosen"]["loc"] for split, scores in splits.items()}

    with pytest.raises(KeyboardInterrupt):
        run.run(splits=4, **asked)
    assert chosen() == {0: -1.0, 1: -1.0}
    run.run(splits=4, **asked)
    assert chosen() == {0: -1.0, 1: -1.0, 2: 5.0, 3: 5.0}
    run.run(splits=1, again=True, **asked)
    assert chosen() == {0: 6.0, 1: -1.0, 2: 5.0, 3: 5.0}


def test_the_process_is_not_asked_for_large_tables():
    """contract: 1439 rows of wine are the most it bears."""
    assert run._bearable("gp", 1599) and not run._bearable("gp", 9568) and run._bearable("tdamp", 45730)


@pytest.mark.parametrize(
    "library, method, module", [("pytagi", "pytagi", "pytagi_regression"), ("laplace", "laplace", "laplace_net")]
)
def test_the_command_stops_at_once_without_the_peers(library, method, module, monkeypatch, capsys, tmp_path):
    """identity: exit code 2 and one line, before any training."""
    for name in (module, "laplace_library"):
        monkeypatch.delitem(sys.modules, f"tdamp_bench.methods.baselines.{name}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    out = tmp_path / "x.json"
    assert main.main(["bench", "uci", "--quick", "--methods", method, "--out", str(out)]) == 2
    assert "tdamp-bench[peers]" in capsys.readouterr().err and not out.exists()
    sys.modules.pop(f"tdamp_bench.methods.baselines.{module}", None)
