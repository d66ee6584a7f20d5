"""The two learning tasks of the paper: data, network, batch and epochs, and the split that methods are tuned on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ..core import problems
from ..core.problems import Problem

Role = Literal["validation", "test"]

BOSTON_VALIDATION = 0.2
"""Share of the training rows."""
TUNING_SPLITS = 10
"""Boston's configurations are chosen on this many splits, however many seeds are asked for: so the choice is one."""
MNIST_VALIDATION = 10_000


@dataclass(frozen=True)
class Task:
    """A data set with the network that learns it; seed k trains on `problem("test", k)`."""

    name: str
    title: str
    loss: str
    percent: bool
    """Whether the loss is shown in per cent."""
    widths: tuple[int, ...]
    batch: int
    epochs: int
    tuning_seeds: tuple[int, ...]
    small: bool
    """Whether all seeds of a configuration fit into a few minutes."""
    make: Callable[[Role, int], Problem]
    problem_of: Callable[[int], int] = lambda seed: seed
    """Seeds with the same answer share a problem."""
    _made: dict[tuple[Role, int], Problem] = field(default_factory=dict, compare=False, repr=False)

    def problem(self, role: Role, seed: int) -> Problem:
        """Rows to learn and rows to be judged on; the same object whenever they are the same."""
        key = role, self.problem_of(seed)
        if key not in self._made:
            self._made[key] = self.make(*key)
        return self._made[key]


def task(name: str, quick: bool = False) -> Task:
    """Boston or MNIST, or a tiny part of it for a quick run."""
    return {"boston": boston, "mnist": mnist}[name](quick)


def boston(quick: bool = False) -> Task:
    """Ten random splits 404 / 102; tuned on a fifth of the training rows of each."""

    def make(role: Role, seed: int) -> Problem:
        split = problems.boston(seed + 1)[seed]
        return split if role == "test" else split.validation(round(BOSTON_VALIDATION * len(split.x)))

    return Task(
        name="boston",
        title="Boston housing",
        loss="test NMSE",
        percent=False,
        widths=(13, 64, 64, 1),
        batch=101,
        epochs=3 if quick else 100,
        tuning_seeds=tuple(range(2 if quick else TUNING_SPLITS)),
        small=True,
        make=make,
    )


def mnist(quick: bool = False) -> Task:
    """60,000 / 10,000 digits; tuned on the last 10,000 rows of a permutation of the training rows."""

    def make(role: Role, seed: int) -> Problem:
        digits = problems.mnist(600, 300) if quick else problems.mnist()
        return digits if role == "test" else digits.validation(len(digits.x) // 6 if quick else MNIST_VALIDATION)

    return Task(
        name="mnist",
        title="MNIST",
        loss="test error",
        percent=True,
        widths=(784, 128, 10),
        batch=100,
        epochs=3 if quick else 30,
        tuning_seeds=(0,),
        small=False,
        make=make,
        problem_of=lambda seed: 0,
    )
