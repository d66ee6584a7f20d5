"""LightGBM within a number of bytes: boosted trees (Ke et al., 2017) whose leaves, number and rate are chosen.

A split takes 12 bytes (which input, threshold, two children), a leaf 4: less than LightGBM's own files need. As many
trees of a number of leaves are trained as the bytes allow, with each rate, on the first rows of a random order; the
others choose number of leaves, rate, and how many of the trees. Then the same on all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tdamp._optional import need

from ...core.problems import Problem

lightgbm = need("lightgbm", "peers", "tdamp-bench")

SPLIT_BYTES, LEAF_BYTES = 12, 4
LEAVES = 2, 3, 4, 6, 8, 12, 16, 24, 32, 64
RATES = 0.05, 0.1, 0.3, 1.0
HELD_OUT = 0.2
MOST_TREES = 1000


class TooSmall(ValueError):
    """Not even one tree of two leaves for each class fits."""


class Choice(NamedTuple):
    """Trees of at most so many leaves, in how many rounds (a tree a class each), the rate, and the held-out loss."""

    leaves: int
    rounds: int
    rate: float
    loss: float


def tree_bytes(leaves: int) -> int:
    """Of a binary tree."""
    return SPLIT_BYTES * (leaves - 1) + LEAF_BYTES * leaves


class Trees:
    """A model that was chosen and trained within the bytes."""

    def __init__(self, problem: Problem, budget: int, seed: int) -> None:
        self.classes = int(problem.y.max()) + 1 if problem.task == "classification" else 1
        self.per_round = self.classes if self.classes > 2 else 1
        self.seed = seed
        self.choice = self._choose(problem, budget)
        self.model = self._train(problem, self.choice.leaves, self.choice.rate, self.choice.rounds)

    @property
    def leaves(self) -> list[int]:
        """Of every tree."""
        return [tree["num_leaves"] for tree in self.model.dump_model()["tree_info"]]

    @property
    def bytes(self) -> int:
        """Of all trees."""
        return sum(map(tree_bytes, self.leaves))

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Means (rows,) or class probabilities (rows, classes)."""
        output = np.asarray(self.model.predict(x))
        return np.stack([1 - output, output], 1) if self.classes == 2 else output

    def _choose(self, problem: Problem, budget: int) -> Choice:
        inner = problem.validation(round(HELD_OUT * len(problem.x)), self.seed)
        choices = []
        for leaves in LEAVES:
            rounds = min(budget // (self.per_round * tree_bytes(leaves)), MOST_TREES)
            for rate in RATES if rounds else ():
                losses = self._held_out(inner, leaves, rate, rounds)
                choices.append(Choice(leaves, int(np.argmin(losses)) + 1, rate, float(np.min(losses))))
        if not choices:
            raise TooSmall(f"{budget} bytes hold no tree for each of {self.classes} classes")
        return min(choices, key=lambda choice: choice.loss)

    def _held_out(self, inner: Problem, leaves: int, rate: float, rounds: int) -> list[float]:
        """Mean squared error or NLL of the rows held out, by round."""
        losses: dict[str, Any] = {}
        self._train(inner, leaves, rate, rounds, losses)
        return next(iter(losses["valid_0"].values()))

    def _train(self, problem: Problem, leaves: int, rate: float, rounds: int, losses: dict | None = None) -> Any:
        objectives = {1: "regression", 2: "binary"}
        options = {
            "objective": objectives.get(self.classes, "multiclass"),
            "num_leaves": leaves,
            "learning_rate": rate,
            "seed": self.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        } | ({"num_class": self.classes} if self.classes > 2 else {})
        rows = lightgbm.Dataset(problem.x, problem.y.ravel())
        if losses is None:
            return lightgbm.train(options, rows, rounds)
        held_out = lightgbm.Dataset(problem.x_test, problem.y_test.ravel(), reference=rows)
        callbacks = [lightgbm.record_evaluation(losses)]
        return lightgbm.train(options, rows, rounds, valid_sets=[held_out], callbacks=callbacks)
