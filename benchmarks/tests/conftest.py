"""Small made-up problems for the benchmark tests."""

import io

import numpy as np
import pytest
from figure_toys import LISTED, Toy
from rich.console import Console

from tdamp_bench.core import problems
from tdamp_bench.core.problems import Problem
from tdamp_bench.figures import methods, tasks
from tdamp_bench.suites.classes.sets import small_digits


@pytest.fixture
def console() -> Console:
    """A console that writes into memory."""
    return Console(file=io.StringIO(), width=200)


@pytest.fixture(scope="session")
def digits() -> Problem:
    """scikit-learn's digits as large as MNIST's: 1,000 to train on, 150 to test."""
    x, y = small_digits()
    return Problem("classification", x[:1000], y[:1000], x[1000:1150], y[1000:1150])


@pytest.fixture
def blobs():
    """Three noisy class centres in 12 dimensions: 120 rows to train on, 60 to test."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3, 12))
    y = rng.integers(0, 3, 180).astype(np.int32)
    x = (centres[y] + 0.5 * rng.standard_normal((180, 12))).astype(np.float32)
    return Problem("classification", x[:120], y[:120], x[120:], y[120:])


@pytest.fixture
def lines():
    """Two splits of a noisy linear function: 61 rows to train on, so that batches of 20 leave a ragged one."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((81, 4)).astype(np.float32)
    y = (x @ rng.standard_normal((4, 1)) + 0.1 * rng.standard_normal((81, 1))).astype(np.float32)
    return [
        Problem("regression", x[o[:61]], y[o[:61]], x[o[61:]], y[o[61:]]) for o in (np.arange(81), np.arange(81)[::-1])
    ]


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch, blobs: Problem, lines: list[Problem]) -> type[Toy]:
    """The toys in place of all methods, made-up data, an empty log."""
    monkeypatch.setattr(methods, "METHODS", LISTED)
    monkeypatch.setattr("tdamp_bench.figures.groups.METHODS", LISTED)
    monkeypatch.setattr(problems, "boston", lambda splits: (lines * 5)[:splits])
    monkeypatch.setattr(problems, "mnist", lambda rows=None, test_rows=None: blobs)
    monkeypatch.setattr(tasks, "MNIST_VALIDATION", 30)
    monkeypatch.setattr(Toy, "calls", [])
    monkeypatch.setattr(Toy, "stop_at", None)
    return Toy
