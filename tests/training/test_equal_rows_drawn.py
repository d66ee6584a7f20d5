"""Test rows drawn from a table."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp.training.equal_rows import drawn_rows


def rows_of(y: np.ndarray) -> np.ndarray:
    """As many rows, all different."""
    return np.arange(len(y))[:, None]


@pytest.mark.parametrize("seed", range(5))
def test_test_rows_of_classes(seed: int) -> None:
    """identity: exactly a fifth of the rows, a fifth of each large class, and a row of each class is left."""
    y = np.random.default_rng(seed).permutation(np.repeat(["a", "b", "c", "d"], [100, 60, 3, 1]))
    test = drawn_rows(rows_of(y), y, 0.2, seed, classes=True)
    assert test.sum() == round(0.2 * len(y))
    assert abs((y[test] == "a").sum() - 20) <= 1 and abs((y[test] == "b").sum() - 12) <= 1
    assert set(y[~test]) == set(y)
    assert (test == drawn_rows(rows_of(y), y, 0.2, seed, classes=True)).all()


def test_every_class_is_trained_on_even_at_a_half() -> None:
    """identity: pairs are divided, and single rows stay in training."""
    y = np.array(["a", "a", "b", "b", "c"])
    test = drawn_rows(rows_of(y), y, 0.4, 0, classes=True)
    assert sorted(y[test]) == ["a", "b"]


def test_test_rows_of_numbers() -> None:
    """identity: the count; 0 takes none; another seed takes others."""
    y = np.arange(50.0)
    assert drawn_rows(rows_of(y), y, 0.3, 0, classes=False).sum() == 15
    assert not drawn_rows(rows_of(y), y, 0.0, 0, classes=False).any()
    assert (drawn_rows(rows_of(y), y, 0.3, 0, classes=False) != drawn_rows(rows_of(y), y, 0.3, 1, classes=False)).any()
