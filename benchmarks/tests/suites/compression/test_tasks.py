"""What is compressed."""

import numpy as np
import pytest

from tdamp.datasets import Table
from tdamp_bench.core.jobs import n_keep
from tdamp_bench.suites.compression import tasks
from tdamp_bench.suites.compression.published import points_of


@pytest.mark.parametrize("name", tasks.LENETS)
def test_shares_are_the_published_counts(name):
    """identity: the number of units to keep is the published one, not one off."""
    task = tasks.task_of(name, quick=False)
    assert [n_keep(task.widths, keep) for keep in tasks.keeps(task, False)] == [p.units for p in points_of(name)]
    assert len(tasks.keeps(task, True)) == 1


def test_a_table(monkeypatch):
    """contract: a split for each seed, validation rows from the training rows of the first, outputs by class."""
    x = np.random.default_rng(0).standard_normal((100, 19))
    labels = (np.arange(100) % 7).astype(np.int32)
    monkeypatch.setattr(tasks, "load_table", lambda name: Table(x, labels, tuple("abcdefghijklmnopqrs")))
    task = tasks.task_of("segment", quick=False)
    assert task.widths == (19, 64, 64, 7) and tasks.keeps(task, False) == tasks.KEEPS
    first, second, held_out = task.problem("test", 0), task.problem("test", 1), task.problem("validation", 0)
    assert len(first.x) == 80 and not np.array_equal(first.y, second.y)
    assert len(held_out.x) == 64 and set(held_out.x_test[:, 0]) <= set(first.x[:, 0])
