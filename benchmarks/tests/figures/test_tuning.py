"""Choosing configurations by validation loss."""

import pytest
from figure_toys import Toy

from tdamp_bench.core.jobs import Run
from tdamp_bench.figures import batches, tasks, tuning
from tdamp_bench.figures.store import Store


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
    """contract: a method that always diverges is still run and shown."""
    monkeypatch.setattr(Toy, "rates", (9.0, 9.0 + 1e-9))
    monkeypatch.setattr(Toy, "train", lambda self, jobs, *rest: [Run([float("inf")] * rest[2], 1) for _ in jobs])
    store, task = Store(tmp_path / "runs.jsonl"), tasks.mnist()
    batches.run_missing(tuning.keys(Toy(), task, 1.0, False), store, Toy(), task)
    assert tuning.choose(store, Toy(), task, 1.0, False).config == {"rate": 9.0}


@pytest.mark.parametrize("count", [0, 7])
def test_budget_is_the_same_for_all(monkeypatch, count):
    """contract: no configuration and one too many are refused, by name."""
    monkeypatch.setattr(Toy, "rates", tuple(range(count)))
    with pytest.raises(tuning.OverBudget, match=f"tdamp has {count} configurations for mnist at keep 0.5; 1 to 6"):
        tuning.keys(Toy(), tasks.mnist(), 0.5, False)


def test_one_candidate_needs_no_runs(tmp_path):
    """identity: a quick run takes the first and tunes nothing."""
    assert tuning.keys(Toy(), tasks.mnist(), 1.0, True) == []
    choice = tuning.choose(Store(tmp_path / "no"), Toy(), tasks.mnist(), 1.0, True)
    assert choice.config == {"rate": 0.3} and choice.loss is None
