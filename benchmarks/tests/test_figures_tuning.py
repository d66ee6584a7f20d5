"""Choosing configurations, batches, and going on after an interruption."""

import io
import json
from dataclasses import replace

import pytest
from figure_toys import LISTED, START, Toy
from rich.console import Console

from tdamp_bench.core import problems
from tdamp_bench.core.jobs import Run
from tdamp_bench.figures import batches, evaluation, methods, tasks, tuning, waiting
from tdamp_bench.figures.options import Options, WrongOption
from tdamp_bench.figures.plan import Curve, Plan
from tdamp_bench.figures.store import Key, Store

PLAN = Plan(
    "toy", (Curve("tdamp", keeps=(1.0, 0.5)), Curve("adam", keeps=(1.0, 0.5))), epochs={"boston": 4, "mnist": 3}
)


@pytest.fixture
def toys(monkeypatch, blobs, lines):
    """The toys in place of all methods, made-up data, an empty log."""
    monkeypatch.setattr(methods, "METHODS", LISTED)
    monkeypatch.setattr("tdamp_bench.figures.groups.METHODS", LISTED)
    monkeypatch.setattr(problems, "boston", lambda splits: (lines * 5)[:splits])
    monkeypatch.setattr(problems, "mnist", lambda rows=None, test_rows=None: blobs)
    monkeypatch.setattr(tasks, "MNIST_VALIDATION", 30)
    monkeypatch.setattr(Toy, "calls", [])
    monkeypatch.setattr(Toy, "stop_at", None)
    return Toy


@pytest.fixture
def console():
    """A console that writes into memory."""
    return Console(file=io.StringIO(), width=160)


def test_the_least_validation_loss_wins(toys, tmp_path):
    """identity: mean over Boston's ten splits by hand; infinity loses; undecided until all runs are there."""
    store, task, method = Store(tmp_path / "runs.jsonl"), tasks.boston(), Toy()
    keys = tuning.keys(method, task, 0.5, False)
    assert len(keys) == 30 and tuning.choose(store, method, task, 0.5, False) is None
    batches.run_missing(keys[:-1], store, method, task)
    assert tuning.choose(store, method, task, 0.5, False) is None
    batches.run_missing(keys, store, method, task)
    choice = tuning.choose(store, method, task, 0.5, False)
    assert choice.config == {"rate": 0.1} and choice.losses['{"rate":9.0}'] == float("inf")
    assert choice.loss == pytest.approx(1.1 * 0.5**-0.1 / 100 + 0.045, rel=1e-5)
    assert [len(call) for call in Toy.calls] == [10, 10, 9, 1]
    assert {rows for call in Toy.calls for *_, rows in call} == {61 - 12}


def test_all_infinite_takes_the_first(toys, tmp_path, monkeypatch):
    """enumeration: a method that always diverges is still run and shown."""
    monkeypatch.setattr(Toy, "rates", (9.0, 9.0 + 1e-9))
    monkeypatch.setattr(Toy, "train", lambda self, jobs, *rest: [Run([float("inf")] * rest[2], 1) for _ in jobs])
    store, task = Store(tmp_path / "runs.jsonl"), tasks.mnist()
    batches.run_missing(tuning.keys(Toy(), task, 1.0, False), store, Toy(), task)
    assert tuning.choose(store, Toy(), task, 1.0, False).config == {"rate": 9.0}


@pytest.mark.parametrize("count", [0, 7])
def test_budget_is_the_same_for_all(monkeypatch, count):
    """enumeration: no configuration and one too many are refused, by name."""
    monkeypatch.setattr(Toy, "rates", tuple(range(count)))
    with pytest.raises(tuning.OverBudget, match=f"tdamp has {count} configurations for mnist at keep 0.5; 1 to 6"):
        tuning.keys(Toy(), tasks.mnist(), 0.5, False)


def test_one_candidate_needs_no_runs(tmp_path):
    """identity: a quick run takes the first and tunes nothing."""
    assert tuning.keys(Toy(), tasks.mnist(), 1.0, True) == []
    choice = tuning.choose(Store(tmp_path / "no"), Toy(), tasks.mnist(), 1.0, True)
    assert choice.config == {"rate": 0.3} and choice.loss is None


@pytest.mark.parametrize(
    ("small", "together", "sizes"), [(True, True, [6, 6]), (False, True, [2] * 6), (False, False, [1] * 12)]
)
def test_batches(small, together, sizes):
    """enumeration: two configurations, three seeds, two shares."""
    keys = [Key("d", "m", config, keep, seed, 3, "test") for config in "ab" for seed in range(3) for keep in (1.0, 0.5)]
    found = batches.batches(keys, small, together)
    assert [len(batch) for batch in found] == sizes and [key for batch in found for key in batch] == keys


def test_a_method_must_give_every_epoch(toys, tmp_path):
    """enumeration: a curve that is too short, and a run that is missing."""
    task = tasks.mnist(quick=True)
    keys = [Key("mnist", "tdamp", json.dumps({"rate": 0.1}), 1.0, 0, 3, "test")]
    for runs in ([Run([1.0], 1)], []):
        method = Toy()
        method.train = lambda *_, runs=runs: runs
        with pytest.raises(batches.BrokenContract, match="expected 3 each"):
            batches.run_missing(keys, Store(tmp_path / "runs.jsonl"), method, task)


def test_problems_are_shared_objects(toys, lines):
    """identity: MNIST is one object for all seeds, Boston one per split, and the two roles differ."""
    mnist, boston = tasks.mnist(), tasks.boston()
    assert mnist.problem("test", 0) is mnist.problem("test", 3) is not mnist.problem("validation", 0)
    assert boston.problem("test", 1) is boston.problem("test", 1) is lines[1]
    assert len(mnist.problem("validation", 0).x_test) == 30


def test_an_interrupted_figure_goes_on_where_it_was(toys, tmp_path, console):
    """twin: stopped at every possible call and resumed, the store is the same and no finished call is repeated."""
    whole = evaluation.evaluate(PLAN, Options(seeds=2, out=tmp_path / "whole"), console)
    calls = len(Toy.calls)
    assert whole.n_new == len(whole.store.done) == calls_of(Toy.calls)
    for stop in range(calls):
        Toy.calls.clear()
        Toy.stop_at = stop
        options = Options(seeds=2, out=tmp_path / str(stop))
        with pytest.raises(KeyboardInterrupt):
            evaluation.evaluate(PLAN, options, console)
        Toy.stop_at = None
        again = evaluation.evaluate(PLAN, options, console)
        assert len(Toy.calls) == calls and again.store.done.keys() == whole.store.done.keys()
    Toy.calls.clear()
    same = evaluation.evaluate(PLAN, Options(seeds=2, out=tmp_path / "whole"), console)
    assert not Toy.calls and same.n_new == 0 and len(same.cells) == len(whole.cells) == 8


def calls_of(calls: list) -> int:
    """Jobs in all."""
    return sum(map(len, calls))


def test_a_figure_in_parts_is_the_whole(toys, tmp_path, console):
    """twin: data sets, methods and seeds one after the other; the last part shows everything."""
    whole = evaluation.evaluate(PLAN, Options(seeds=2, out=tmp_path / "whole"), console)
    parts = Options(seeds=1, out=tmp_path / "parts")
    for data in ("mnist", "boston"):
        for name in ("adam", "tdamp"):
            part = replace(parts, data=(data,), methods=(name,))
            found = evaluation.evaluate(PLAN, part, console)
    assert len(found.cells) == 8 and {len(cell.runs) for cell in found.cells} == {1}
    found = evaluation.evaluate(PLAN, replace(parts, seeds=2), console)
    assert found.store.done.keys() == whole.store.done.keys()
    assert [(c.data, c.keep, c.choice) for c in found.cells] == [(c.data, c.keep, c.choice) for c in whole.cells]


def test_a_given_configuration_is_not_tuned(toys, tmp_path, console):
    """identity: two curves of one method with their own names, and the further list that was asked for."""
    curves = tuple(Curve("tdamp", config={"rate": rate}, name=f"r{rate}", data=("mnist",)) for rate in (0.5, 1.0))
    plan = Plan("noise", curves, whole=True, extra=("noise_var",))
    found = evaluation.evaluate(plan, Options(seeds=1, out=tmp_path), console)
    assert [key.role for key in found.store.done] == ["test", "test"]
    assert [cell.curve.title for cell in found.cells] == ["r0.5", "r1.0"]
    run = found.cells[1].runs[0]
    assert run.extra == {"noise_var": [0.5] * 30} and run.loss[0] == START["tdamp"] * 2


def test_siblings_save_work(toys, tmp_path, console):
    """enumeration: a second figure with the same cells runs nothing."""
    options = Options(seeds=2, out=tmp_path)
    evaluation.evaluate(replace(PLAN, whole=True), options, console)
    Toy.calls.clear()
    found = evaluation.evaluate(replace(PLAN, name="second", siblings=("toy", "absent")), options, console)
    assert not Toy.calls and len(found.cells) == 8 and {len(run.loss) for run in found.store.done.values()} == {1}


def test_unknown_methods_are_refused(tmp_path, console):
    """identity: the message has both names."""
    with pytest.raises(WrongOption, match=r"no sgd\. Choose from: tdamp, adam"):
        evaluation.evaluate(PLAN, Options(out=tmp_path, methods=("sgd",)), console)


def test_a_log_gets_a_line_now_and_then(console):
    """enumeration: ticks at 10-second steps speak every 30 seconds, with the time left."""
    times = iter(range(0, 1000, 10))
    with waiting.waiting(console, "toy", 6, clock=lambda: next(times)) as tick:
        for i in range(6):
            tick(f"run {i}")
    said = console.file.getvalue().splitlines()
    assert said == ["toy: 3 of 6 runs, 0 min left; run 2", "toy: 6 of 6 runs, 0 min left; run 5"]
    terminal = Console(force_terminal=True, file=io.StringIO(), width=120)
    with waiting.waiting(terminal, "toy", 1) as tick:
        tick("run 0")
    assert "1/1" in terminal.file.getvalue()
