"""The protocol: splits, and tasks without test targets."""

import numpy as np
import pytest

from tdamp.datasets import Table
from tdamp_bench.suites.uci import protocol


@pytest.mark.parametrize("rows", [45, 308, 506])
def test_splits_are_those_of_the_protocol(rows):
    """golden(the published procedure, transcribed): numpy's global generator, seeded once, and a cut after 90 %."""
    np.random.seed(1)  # noqa: NPY002
    for train, test in protocol.orders(rows, splits=3):
        permutation = np.random.choice(range(rows), rows, replace=False)  # noqa: NPY002
        end = int(np.round(rows * 9.0 / 10.0))
        np.testing.assert_array_equal(train, permutation[:end])
        np.testing.assert_array_equal(test, permutation[end:])


def test_tasks_hold_no_test_targets():
    """identity: rows of the table, each once, and the targets of the test rows apart."""
    x = np.arange(40.0)[:, None]
    (task, y_test), *_ = protocol.tasks(Table(x, x[:, 0], ("a",)), hidden=7, splits=1)
    assert len(task.x) == 36 and task.hidden == 7 and task.split == 0
    np.testing.assert_array_equal(task.x[:, 0], task.y)
    np.testing.assert_array_equal(task.x_test[:, 0], y_test)
    np.testing.assert_array_equal(np.sort(np.concatenate([task.y, y_test])), np.arange(40.0))
