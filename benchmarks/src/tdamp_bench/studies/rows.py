"""Rows that several studies learn from."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_digits, make_friedman1

from ..core.problems import Problem


@cache
def digits(classes: int, rows: int, seed: int) -> Problem:
    """A random half or so of the digits below `classes`, pixels / 16, and up to 500 others to test on."""
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(y < classes))
    x, y = (x[order] / 16).astype(np.float32), y[order].astype(np.int32)
    rows = min(rows, 2 * len(x) // 3)
    return Problem("classification", x[:rows], y[:rows], x[rows : rows + 500], y[rows : rows + 500])


@cache
def regression(planted: bool, n: int, more: int, seed: int) -> tuple[Problem, float]:
    """A planted network of 8 units, or the first Friedman function, of 10 inputs: n rows to learn from, `more` to test.

    The noise has a fifth of the signal's deviation; with its variance in the units of the scaled targets.
    """
    rng = np.random.default_rng(seed)
    rows = n + more
    if planted:
        x = rng.standard_normal((rows, 10))
        w1, w2 = rng.standard_normal((10, 8)), rng.standard_normal(8)
        clean = np.maximum(x @ w1 / np.sqrt(10) + 0.5 * rng.standard_normal(8), 0) @ w2
    else:
        x, clean = make_friedman1(rows, 10, random_state=seed)
    scale = clean[:n].std()
    noise = 0.2 * scale
    y = (clean + noise * rng.standard_normal(rows))[:, None] / scale
    x = (x - x[:n].mean(0)) / x[:n].std(0)
    x, y = x.astype(np.float32), (y - y[:n].mean()).astype(np.float32)
    return Problem("regression", x[:n], y[:n], x[n:], y[n:]), float((noise / scale) ** 2)
