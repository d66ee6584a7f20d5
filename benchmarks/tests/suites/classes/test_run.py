"""`tdamp bench classes` on scikit-learn's digits: a quick run, resuming, and what it does without laplace-torch."""

import importlib
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from tdamp import _optional
from tdamp.cli import main
from tdamp_bench.core import presets, problems
from tdamp_bench.suites.classes import contenders, our_tuning, run
from tdamp_bench.suites.classes.plan import QUICK
from tdamp_bench.suites.classes.sets import TITLES
from tdamp_bench.suites.classes.timed import Seconds

PLAN = replace(QUICK, validation_rows=200, hidden=(16,), rates=(3e-3, 1e-2), angles=(0, 90))


@pytest.fixture
def little(digits, monkeypatch):
    """The command on few digits, by a little plan."""
    monkeypatch.setattr(problems, "mnist", lambda rows, test_rows: digits)
    monkeypatch.setattr(run, "QUICK", PLAN)
    monkeypatch.setattr(our_tuning, "CANDIDATES", our_tuning.CANDIDATES[:1])


def test_quick_run_has_every_method(little, console, tmp_path):
    """contract: legal JSON with every score of every method, tables and a picture."""
    out = tmp_path / "classes.json"
    run.run(quick=True, out=out, console=console)
    parts = json.loads(out.read_text(), parse_constant=pytest.fail)["parts"]
    methods = parts["summary"]["methods"]
    assert list(methods) == list(contenders.LABELS) and len(parts["summary"]["verdicts"]) == 2 * (2 + 3 + 4 + 4)
    for one in methods.values():
        mean = one["mean"]
        assert mean["test"]["error"] < 0.5 and 0 < mean["test"]["nll"] < 2 and mean["seconds"]["processor"] > 0
        assert list(mean["turned"]) == ["0", "90"] and list(mean["outside"]) == list(TITLES)
        assert mean["turned"]["0"]["nll"] == mean["test"]["nll"] < mean["turned"]["90"]["nll"]
    assert methods["adam"]["mean"]["test"]["error"] == methods["adam_temperature"]["mean"]["test"]["error"]
    page = out.with_suffix(".md").read_text()
    assert all(contenders.LABELS[name] in page for name in methods) and "A quick run" in page
    assert out.with_suffix(".png").stat().st_size > 10_000
    assert "training time" in console.file.getvalue()


def test_what_has_finished_is_not_run_again(little, console, tmp_path, monkeypatch):
    """contract: an interrupted command goes on where it was; other settings or grids run again what they concern."""
    ran, out = [], tmp_path / "classes.json"

    def fake(family, method):
        def train(problem, plan, tuned, seed):
            if interrupts and (family, seed) == ("ensemble", 0):
                raise KeyboardInterrupt
            ran.append((family, seed))
            return {method: contenders.Contender(lambda x: np.full((len(x), 10), 0.1), Seconds(1.0, 1.0))}

        return train

    interrupts = True
    names = ("tdamp", "adam", "ensemble", "adamw", "tdamp_tuned")
    monkeypatch.setattr(run, "FAMILIES", {name: fake(name, name) for name in names})
    monkeypatch.setattr(run, "TUNINGS", {name: lambda *_, name=name: ran.append(name) or {} for name in run.TUNINGS})

    def again():
        ran.clear()
        run.run((0, 1), quick=True, out=out, console=console, families=names)
        return list(ran)

    with pytest.raises(KeyboardInterrupt):
        again()
    assert ran == [("tdamp", 0), "tuning", ("adam", 0)]
    interrupts = False
    rest = [("ensemble", 0), "tuning of AdamW", ("adamw", 0), "tuning of tdamp", ("tdamp_tuned", 0)]
    assert again() == [*rest, *((name, 1) for name in names)]
    assert again() == []
    monkeypatch.setattr(our_tuning.presets, "MNIST", replace(presets.MNIST, noise_init=0.5))
    assert again() == [("tdamp", 0), "tuning of tdamp", ("tdamp_tuned", 0), ("tdamp", 1), ("tdamp_tuned", 1)]
    monkeypatch.setitem(run.STRONG, "mnist", run.STRONG["mnist"][:2])
    assert again() == ["tuning of AdamW", ("adamw", 0), ("adamw", 1)]


def test_missing_laplace_names_the_extra(monkeypatch, capsys, tmp_path):
    """contract: Without the library the command ends at once and says what to install."""
    for module in ("laplace_library", "laplace_classes"):
        monkeypatch.delitem(sys.modules, f"tdamp_bench.methods.baselines.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "laplace", None)
    assert main.main(["bench", "classes", "--quick", "--out", str(tmp_path / "x.json")]) == 2
    assert "tdamp-bench[peers]" in capsys.readouterr().err and not list(tmp_path.iterdir())
    with pytest.raises(_optional.MissingExtra, match="laplace"):
        importlib.import_module("tdamp_bench.methods.baselines.laplace_classes")
