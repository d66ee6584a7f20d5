"""`tdamp bench soak`: hostile data are what they are said to be, faults are found, and a run can be resumed."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import jax
import numpy as np
import pytest
from rich.console import Console

from tdamp import Network, Settings, fit
from tdamp.cli import main
from tdamp.engine import damp
from tdamp.engine.compact import padded
from tdamp.factors.layers import dense
from tdamp.training.epoch import _e_step
from tdamp_bench.cli.bench import SOAK_PARTS
from tdamp_bench.suites.soak import configuration, faults, hostile, places, problem, run, streams, summary
from tdamp_bench.suites.soak.plan import FULL, QUICK
from tdamp_bench.suites.soak.store import Store

CLIP = {name: i for i, name in enumerate(places.CLIPS)}


def line(clips=(0,) * 6, of=(10,) * 6, wrong=(), outcome="OK"):
    """A made-up problem."""
    made_up = {"configuration": 0, "problem": 0, "tricks": ["outlier"], "warnings": [], "seconds": 1.0}
    return made_up | {"kind": "problem", "outcome": outcome, "faults": list(wrong), "clips": clips, "places": of}


def test_configurations_cover_what_they_should():
    """enumeration: every task, face, prior, PasP, activation, noise and pruning is among those of a full run."""
    drawn = [configuration.draw(i) for i in range(FULL.configurations)]
    assert FULL.configurations * FULL.problems == 2000
    kinds = {"face": 2, "task": 2, "prior": 3, "pasp": 2, "activation": 5, "noise": 2, "pruning": 2}
    for name, wanted in kinds.items():
        assert len({getattr(c, name) for c in drawn}) == wanted, name
    assert {len(c.hidden) for c in drawn} >= {1, 8} and any(c.keep for c in drawn) and any(c.grouped for c in drawn)
    assert {n for c in drawn for n in c.hidden} == set(configuration.HIDDEN)


@pytest.mark.parametrize("index", range(0, 8))
def test_problems_of_a_configuration_share_their_shapes(index):
    """identity: widths differ, and are the same after padding."""
    drawn, rng = configuration.draw(index), np.random.default_rng(0)
    found = {drawn.widths(rng) for _ in range(20)}
    assert len({padded(widths, 8) for widths in found}) == 1


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_hostile_rows(task):
    """enumeration: each trick leaves its mark, every class is there, and all numbers are finite."""
    seen, rng = set(), np.random.default_rng(0)
    for _ in range(200):
        rows = hostile.draw(rng, task, 40, 6, 3, raw=False)
        seen |= set(rows.tricks)
        assert np.isfinite(rows.x).all() and np.isfinite(rows.y).all() and len(rows.x) == len(rows.y)
        if task == "classification":
            assert set(rows.y) == {0, 1, 2}
        if "duplicates" in rows.tricks:
            assert (rows.x[len(rows.x) // 2 :] == rows.x[0]).all()
        if "weights" in rows.tricks and "few_rows" not in rows.tricks:
            assert rows.weight.max() > 1e8 * rows.weight.min()
        if "few_rows" in rows.tricks:
            assert len(rows.x) <= 6
        if "scales" in rows.tricks and "duplicates" not in rows.tricks and "one_hot" not in rows.tricks:
            size = np.abs(rows.x).max(0)
            assert size.max() > 1e3 * size.min()
    assert seen == {*hostile.INPUT_TRICKS, *hostile.TARGET_TRICKS[task], "weights"}


def test_places_are_what_the_clips_look_at(monkeypatch):
    """enumeration: with clips that always act, each counter is the number of its places."""
    network = Network((5, 9, 2))
    settings = Settings(max_epochs=2, batch_size=8, sweeps=3)
    whole = damp.count
    monkeypatch.setattr(damp, "count", lambda hits: whole(jax.numpy.ones_like(hits)))
    coupling = dense._coupling
    monkeypatch.setattr(
        dense, "_coupling", lambda raw: (coupling(raw)[0], jax.numpy.asarray(raw.size, jax.numpy.int32))
    )
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((21, 5)).astype(np.float32), rng.standard_normal((21, 2)).astype(np.float32)
    before = dict(_e_step.compiled)
    _e_step.compiled.clear()
    monkeypatch.setattr("tdamp.training.compiled.FOLDER", [])  # nothing of this is kept
    try:
        fitted = fit(network, x, y, settings)
    finally:
        _e_step.compiled.clear()
        _e_step.compiled.update(before)
    expected = places.of(network, settings, 21, 2)
    for name in ("negative_prec", "excess_prec", "self_coupling", "min_var"):
        assert sum(record[name] for record in fitted.history) == expected[name], name


def test_faults_are_found():
    """enumeration: each is put into a sound state."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 3)).astype(np.float32), rng.standard_normal((20, 1)).astype(np.float32)
    fitted = fit(Network((3, 4, 1)), x, y, Settings(max_epochs=1, batch_size=8))
    assert faults.of_fitted(fitted) == []
    first = fitted.state.layers[0]

    def found(**change):
        return faults.of_state(fitted.state._replace(layers=(first._replace(**change), *fitted.state.layers[1:])))

    assert found(weight=first.weight._replace(mean=first.weight.mean * np.nan)) == ["layer 0 weight mean is not finite"]
    assert "not positive" in found(bias=first.bias._replace(var=0 * first.bias.var))[0]
    assert "float64" in found(centre=np.asarray(first.centre, np.float64))[0]
    assert faults.of_state(fitted.state._replace(noise_var=np.float32([-1.0])))
    record = {**fitted.history[-1], "log_evidence": float("nan")}
    assert faults.of_fitted(replace(fitted, history=(record,))) == ["history log_evidence is not finite"]


def test_runtime_warnings_are_faults_and_refusals_are_told(monkeypatch):
    """enumeration: an overflow in NumPy, the engine's own refusal, and another error."""
    drawn = configuration.draw(0)

    def warn(*_):
        np.float32(1e30) * np.float32(1e30)

    def refuse(*_):
        raise ValueError(f"x or y is {problem.REFUSAL}: bring them to a scale near one")

    def fail(*_):
        raise ValueError("something else")

    for act, outcome, wrong in ((refuse, "REFUSED", []), (fail, "REFUSED", ["ValueError: something else"])):
        monkeypatch.setattr(problem, "_by_engine", act)
        monkeypatch.setattr(problem, "_by_estimator", act)
        found = problem.run(drawn, 0, 0, QUICK)
        assert (found["outcome"], found["faults"]) == (outcome, wrong)
    monkeypatch.setattr(problem, "_by_engine", warn)
    monkeypatch.setattr(problem, "_by_estimator", warn)
    assert "RuntimeWarning" in problem.run(drawn, 0, 0, QUICK)["faults"][0]


def test_clips_are_summed_up():
    """enumeration: shares by hand; problems where a clip looked at nothing do not count."""
    lines = [line(), line((5, 0, 0, 0, 0, 0)), line((1, 0, 2, 0, 0, 0)), line(of=(0, 10, 10, 10, 10, 10))]
    found = summary.of_problems(lines)["clips"]
    assert found["negative_prec"]["problems"] == 3 and found["negative_prec"]["acted"] == pytest.approx(2 / 3)
    assert found["negative_prec"]["median_share"] == pytest.approx(0.1)
    assert found["negative_prec"]["median_share_where_acted"] == pytest.approx(0.3)
    assert found["self_coupling"]["most"] == pytest.approx(0.2) and found["excess_prec"]["acted"] == 0
    told = summary.of_problems([line(wrong=["diverged"], outcome="DIVERGED"), line()])
    assert told["outcomes"] == {"DIVERGED": 1, "OK": 1} and told["with_faults"] == 1
    assert [verdict.met for verdict in summary.verdicts(told, {})] == [False]


def test_a_stream_begins_clean_and_drifts():
    """identity: the first batch has unit scale; the scale then stays within its decades and uses them."""
    kind = streams.Kind("regression", False)
    rng = np.random.default_rng(0)
    sizes = [np.abs(x).mean() for x, _ in streams.batches(kind, streams.concept_of(kind, rng), rng, 10_000)]
    assert sizes[0] == pytest.approx(np.sqrt(2 / np.pi), rel=0.2)
    assert 1e-7 < min(sizes) < 1e-5 and 1e5 < max(sizes) < 1e7


def test_the_store_drops_a_line_that_was_cut_off(tmp_path):
    """identity: what was written whole is read again, and the next line stands on its own."""
    path = tmp_path / "soak.jsonl"
    Store(path, QUICK).add(line())
    with path.open("a") as file:
        file.write('{"kind": "prob')
    again = Store(path, QUICK)
    assert len(again.lines) == 1
    again.add(line(wrong=["diverged"]))
    assert [bool(found["faults"]) for found in Store(path, QUICK).lines] == [False, True]
    with pytest.raises(ValueError, match="another plan"):
        Store(path, FULL)


def test_quick_run_finds_no_fault_and_resumes(tmp_path, monkeypatch):
    """property: ten problems of one hidden layer and two short streams; a second run has nothing left to do."""
    whole = configuration.draw
    monkeypatch.setattr(
        configuration, "draw", lambda i: replace(whole(i), hidden=(8,), keep=None, prior=("gaussian", "group")[i])
    )
    monkeypatch.setattr(streams, "KINDS", {name: kind for name, kind in streams.KINDS.items() if kind.spoiled})
    out, console = tmp_path / "soak.json", Console(file=io.StringIO(), width=160)
    report = run.run(quick=True, out=out, console=console)
    told = json.loads(out.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert told["problems"]["problems"] == 10 and told["problems"]["faults"] == []
    assert list(told["streams"]) == list(streams.KINDS)
    assert all(verdict["met"] for verdict in report["verdicts"]), report["verdicts"]
    assert all(stream["faults"] == [] for stream in told["streams"].values())
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr(problem, "run", lambda *_: pytest.fail("a problem was run again"))
    monkeypatch.setattr(streams, "run", lambda *_: pytest.fail("a stream was run again"))
    assert run.run(quick=True, out=out, console=console)["problems"] == report["problems"]


def test_options():
    """identity: what the command line hands on."""
    chosen = main.parser().parse_args(["bench", "soak", "--only", "streams", "--quick"])
    assert chosen.only == ["streams"] and chosen.quick and chosen.out is None
    assert SOAK_PARTS == run.PARTS


@pytest.mark.soak
def test_full_soak(tmp_path):
    """property: 2,000 problems and four streams of 10,000 batches, no fault (half an hour on one core)."""
    report = run.run(out=tmp_path / "soak.json", console=Console(file=io.StringIO()))
    assert [verdict for verdict in report["verdicts"] if not verdict["met"]] == []
