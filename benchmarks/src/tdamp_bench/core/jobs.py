"""What every method of the paper's evaluation is asked to do, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .problems import Problem
from .progress import Tick
from .scoring import error_rate, nmse

Config = dict[str, float | int | str]
"""One point of a method's grid."""


@dataclass(frozen=True)
class Job:
    """One training: a problem, the random seed, the share of units to keep, and the method's configuration.

    Jobs handed over together have problems of one shape. Jobs on the same data share the `problem` object.
    """

    problem: Problem
    seed: int
    keep: float
    config: Config


@dataclass
class Run:
    """What came of a job: test loss (error, or NMSE) of the point prediction by epoch, and the units left at the end.

    `units` is what is really left, inputs included, which for some methods need not be what was asked for. `extra`
    holds further lists by epoch (such as `noise_var`). A training that diverges gives infinite losses, never NaN.
    """

    loss: list[float]
    units: int
    extra: dict[str, list[float]] = field(default_factory=dict)
    note: str = ""


class Tuned(Protocol):
    """What is tuned."""

    name: str
    """Short, for files: `group_lasso`."""
    label: str
    """For people: `Adam + group lasso`."""

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Configurations to choose from on a validation split, for the data set (such as "mnist") and share."""


class Method(Tuned, Protocol):
    """A way to train and prune a network."""

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """Train every job, one after the other or together; the runs in the order of the jobs.

        `tick(what)` is called once for every job that is done.
        """


def n_keep(widths: Sequence[int], keep: float) -> int:
    """round(keep Q_W): inputs and hidden units that are to remain, at least one in each layer."""
    return max(len(widths) - 1, round(keep * sum(widths[:-1])))


def loss_of(outputs: np.ndarray, problem: Problem) -> float:
    """Test error of class scores, or NMSE of regression outputs; infinite where an output is not finite."""
    if not np.isfinite(outputs).all():
        return float("inf")
    if problem.task == "classification":
        return error_rate(outputs, problem.y_test)
    return nmse(outputs, problem.y_test, problem.y)
