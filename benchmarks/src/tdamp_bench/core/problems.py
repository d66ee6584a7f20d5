"""What is learned: training and test rows, with the splits and scalings of the benchmark protocols."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tdamp.datasets import load_boston, load_mnist
from tdamp.engine.network import Task


@dataclass(frozen=True)
class Problem:
    """Rows to train on and rows to test on, float32; labels (rows,) int32 or targets (rows, outputs)."""

    task: Task
    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    def first(self, rows: int | None, test_rows: int | None = None) -> Problem:
        """The first rows only; None keeps all."""
        return replace(
            self, x=self.x[:rows], y=self.y[:rows], x_test=self.x_test[:test_rows], y_test=self.y_test[:test_rows]
        )

    def validation(self, rows: int, seed: int = 0) -> Problem:
        """Test on the last `rows` of a seeded permutation of the training rows, train on the others."""
        order = np.random.default_rng(seed).permutation(len(self.x))
        train, held_out = order[:-rows], order[-rows:]
        return replace(self, x=self.x[train], y=self.y[train], x_test=self.x[held_out], y_test=self.y[held_out])


def mnist(rows: int | None = None, test_rows: int | None = None) -> Problem:
    """MNIST 60k / 10k, pixels / 255."""
    digits = load_mnist()
    problem = Problem("classification", digits.x_train, digits.y_train, digits.x_test, digits.y_test)
    return problem.first(rows, test_rows)


def boston(splits: int, test_rows: int = 102) -> list[Problem]:
    """Random splits of Boston (404 / 102 rows), standardised on their training part; split k uses seed k."""
    table = load_boston()
    splits_as_problems = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(table.x))
        train, test = order[:-test_rows], order[-test_rows:]
        y = table.y[:, None]
        splits_as_problems.append(standardise(Problem("regression", table.x[train], y[train], table.x[test], y[test])))
    return splits_as_problems


def standardise(problem: Problem) -> Problem:
    """Inputs and target to mean 0 and deviation 1 on the training part; a constant column becomes 0."""

    def scaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, std = train.mean(0), train.std(0)
        std = np.where(std > 0, std, 1.0)
        return ((train - mean) / std).astype(np.float32), ((test - mean) / std).astype(np.float32)

    x, x_test = scaled(problem.x, problem.x_test)
    y, y_test = scaled(problem.y, problem.y_test)
    return replace(problem, x=x, y=y, x_test=x_test, y_test=y_test)
