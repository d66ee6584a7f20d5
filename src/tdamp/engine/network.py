"""The network's shape: widths, activation, likelihood, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ..factors.likelihoods.base import Likelihood, Task
from ..factors.likelihoods.catalog import LIKELIHOODS

Noise = Literal["constant", "varying", "none"]


@dataclass(frozen=True)
class Network:
    """A feed-forward network z_l = W_l u_(l-1) + b_l, u_l = activation(z_l), with its output task.

    `widths` runs from the inputs to the outputs: (784, 128, 10). `likelihood` names what the outputs mean ("gaussian",
    "heteroscedastic", "probit", ...: factors/likelihoods); None is the one that `task` and `noise` stand for. A
    regression whose noise is "varying" has two outputs for each target: the targets' means first, then the logs of
    their noise variances.
    """

    widths: tuple[int, ...]
    task: Task = "regression"
    activation: str = "relu"
    noise: Noise = "constant"
    likelihood: str | None = None

    def __post_init__(self) -> None:
        """The likelihood, where it is named, says what task and noise are."""
        if self.likelihood in LIKELIHOODS:
            object.__setattr__(self, "task", self.output.task)
            object.__setattr__(self, "noise", self.output.noise)

    @property
    def output(self) -> Likelihood:
        """The likelihood of the targets given the outputs."""
        return LIKELIHOODS[self.likelihood or str(name_of(self.task, self.noise))]

    @property
    def n_targets(self) -> int:
        """Columns of y, or classes."""
        return self.widths[-1] // self.output.outputs_per_target

    @property
    def n_layers(self) -> int:
        """Layers of weights."""
        return len(self.widths) - 1

    @property
    def n_units(self) -> int:
        """Units that own a weight group, Q_W: the inputs and the hidden units (erratum E9)."""
        return sum(self.widths[:-1])

    @property
    def n_params(self) -> int:
        """Weights and biases."""
        return n_params(self.widths)

    @property
    def n_multiply_adds(self) -> int:
        """Of one forward pass of the posterior-mean network."""
        return n_multiply_adds(self.widths)


def name_of(task: str, noise: str) -> str | None:
    """The likelihood that a task and a kind of noise stand for, or None: the first of the catalog."""
    return next((name for name, one in LIKELIHOODS.items() if (one.task, one.noise) == (task, noise)), None)


def n_params(widths: tuple[int, ...]) -> int:
    """Weights and biases of a dense network of these widths."""
    return sum((a + 1) * b for a, b in pairwise(widths))


def n_multiply_adds(widths: tuple[int, ...]) -> int:
    """Multiply-adds of one forward pass of the posterior-mean network."""
    return sum(a * b for a, b in pairwise(widths))
