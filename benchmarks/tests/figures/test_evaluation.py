"""The evaluation of a plan: interruptions, parts, siblings."""

from dataclasses import replace

import pytest
from figure_toys import START, Toy

from tdamp_bench.figures import evaluation
from tdamp_bench.figures.options import Options, WrongOption
from tdamp_bench.figures.plan import Curve, Plan

PLAN = Plan(
    "toy", (Curve("tdamp", keeps=(1.0, 0.5)), Curve("adam", keeps=(1.0, 0.5))), epochs={"boston": 4, "mnist": 3}
)


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
            result = evaluation.evaluate(PLAN, part, console)
    assert len(result.cells) == 8 and {len(cell.runs) for cell in result.cells} == {1}
    result = evaluation.evaluate(PLAN, replace(parts, seeds=2), console)
    assert result.store.done.keys() == whole.store.done.keys()
    assert [(c.data, c.keep, c.choice) for c in result.cells] == [(c.data, c.keep, c.choice) for c in whole.cells]


def test_a_fixed_configuration_is_not_tuned(toys, tmp_path, console):
    """identity: two curves of one method with their own names, and the further list that was asked for."""
    curves = tuple(Curve("tdamp", config={"rate": rate}, name=f"r{rate}", data=("mnist",)) for rate in (0.5, 1.0))
    plan = Plan("noise", curves, whole=True, extra=("noise_var",))
    result = evaluation.evaluate(plan, Options(seeds=1, out=tmp_path), console)
    assert [key.role for key in result.store.done] == ["test", "test"]
    assert [cell.curve.title for cell in result.cells] == ["r0.5", "r1.0"]
    run = result.cells[1].runs[0]
    assert run.extra == {"noise_var": [0.5] * 30} and run.loss[0] == START["tdamp"] * 2


def test_siblings_save_work(toys, tmp_path, console):
    """contract: a second figure with the same cells runs nothing."""
    options = Options(seeds=2, out=tmp_path)
    evaluation.evaluate(replace(PLAN, whole=True), options, console)
    Toy.calls.clear()
    result = evaluation.evaluate(replace(PLAN, name="second", siblings=("toy", "absent")), options, console)
    assert not Toy.calls and len(result.cells) == 8 and {len(run.loss) for run in result.store.done.values()} == {1}


def test_unknown_methods_are_refused(tmp_path, console):
    """identity: the message has both names."""
    with pytest.raises(WrongOption, match=r"no sgd\. Choose from: tdamp, adam"):
        evaluation.evaluate(PLAN, Options(out=tmp_path, methods=("sgd",)), console)
