"""What goes into a method, and what comes out: a split without its test targets, and a predictive distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import ndtri

from tdamp.metrics import log_score


@dataclass(frozen=True)
class Task:
    """Rows to learn from, (rows, inputs) and (rows,), and the inputs of the test rows.

    `split` is also the random seed, and `hidden` the width of the one hidden layer of those methods that have one.
    """

    split: int
    hidden: int
    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray


class Predictive(Protocol):
    """A distribution for the target of every test row."""

    @property
    def mean(self) -> np.ndarray:
        """The point prediction, (rows,)."""

    def log_score(self, y: np.ndarray) -> float:
        """Mean over rows of the log density of y."""

    def interval(self, level: float) -> np.ndarray:
        """The central interval of this probability, (rows, 2)."""


class Gaussian(NamedTuple):
    """N(mean, std^2) for every test row, (rows,) each; the noise is in it."""

    mean: np.ndarray
    std: np.ndarray

    def log_score(self, y: np.ndarray) -> float:
        """Mean over rows of log N(y; mean, std^2)."""
        return log_score(y, self.mean, self.std)

    def interval(self, level: float) -> np.ndarray:
        """mean -+ std Phi^-1((1 + level) / 2)."""
        half = ndtri(0.5 + 0.5 * level) * self.std
        return np.stack([self.mean - half, self.mean + half], 1)


@dataclass(frozen=True)
class Answer:
    """A predictive distribution, the wall seconds it took, and what was chosen on the training rows to get it."""

    predictive: Predictive
    seconds: float
    chosen: dict[str, Any] = field(default_factory=dict)


Peer = Callable[[Sequence[Task], bool], Iterator[Answer]]
"""Answers to splits of one table, in their order; True asks for a quick run, whose figures mean nothing."""


def standardised(peer: Peer) -> Peer:
    """The peer sees float32 inputs and targets of mean 0 and deviation 1 on the training rows; answers are scaled back.

    It must answer with a `Gaussian`. A constant column becomes 0.
    """

    def run(tasks: Sequence[Task], quick: bool) -> Iterator[Answer]:
        scaled = [_standard(task) for task in tasks]
        for task, answer in zip(tasks, peer(scaled, quick), strict=True):
            if not isinstance(answer.predictive, Gaussian):
                raise TypeError(f"{answer.predictive!r}: only a Gaussian can be scaled back")
            mean, std = (np.asarray(a, np.float64) for a in answer.predictive)
            loc, scale = task.y.mean(), task.y.std()
            yield replace(answer, predictive=Gaussian(loc + scale * mean, scale * std))

    return run


def _standard(task: Task) -> Task:
    loc, scale = task.x.mean(0), task.x.std(0)
    scale = np.where(scale > 0, scale, 1.0)
    return replace(
        task,
        x=((task.x - loc) / scale).astype(np.float32),
        y=((task.y - task.y.mean()) / task.y.std()).astype(np.float32),
        x_test=((task.x_test - loc) / scale).astype(np.float32),
    )
