"""Adam as a contender, whichever library computes it."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from tdamp.engine.network import Task

from ...core.problems import Problem
from .recipe import Recipe
from .start import Orders

LIBRARIES = ("optax", "torch")
RATES = (3e-4, 1e-3, 3e-3)


class Learner(Protocol):
    """A network in training, in some library."""

    def epoch(self, order: np.ndarray) -> None:
        """Train on the rows in this order."""

    def point(self, x: np.ndarray) -> np.ndarray:
        """Network outputs."""


class Adam:
    """A network trained by Adam; He initialisation, cross-entropy or squared error, float32.

    A recipe with a schedule must know for how many `epochs` it is to last. PyTorch's is plain Adam.
    """

    def __init__(
        self,
        library: str,
        problem: Problem,
        widths: tuple[int, ...],
        recipe: float | Recipe,
        batch: int,
        seed: int,
        epochs: int | None = None,
    ) -> None:
        module = importlib.import_module(f".adam_{library}", __package__)
        self.task: Task = problem.task
        self.learner: Learner = module.Learner(problem, widths, recipe, batch, seed, epochs)
        self.orders = Orders(len(problem.x), seed)

    def epoch(self) -> float:
        """Train for an epoch; wall seconds."""
        started = time.perf_counter()
        self.learner.epoch(next(self.orders))
        return time.perf_counter() - started

    def epochs(self, count: int) -> Iterator[float]:
        """Train for `count` epochs, yielding the seconds of each."""
        for _ in range(count):
            yield self.epoch()

    def point(self, x: np.ndarray) -> np.ndarray:
        """Network outputs."""
        return self.learner.point(x)

    def predictive(self, x: np.ndarray) -> np.ndarray:
        """Softmax of the outputs, or the outputs themselves in a regression."""
        out = self.point(x)
        return softmax(out) if self.task == "classification" else out


def softmax(scores: np.ndarray) -> np.ndarray:
    """Class probabilities from scores, in float64."""
    scores = np.asarray(scores, np.float64)
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)
