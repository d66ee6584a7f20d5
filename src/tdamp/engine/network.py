"""The network's shape: widths, kinds of layers, activation, likelihood, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ..factors.layers.base import Linear
from ..factors.layers.catalog import layer_of
from ..factors.layers.dense import DENSE
from ..factors.likelihoods.base import Likelihood, Task
from ..factors.likelihoods.catalog import LIKELIHOODS

Noise = Literal["constant", "varying", "none"]


@dataclass(frozen=True)
class Network:
    """A feed-forward network z_l = mix_l(u_(l-1), W_l) + b_l, u_l = activation(z_l), with its output task.

    `widths` runs from the inputs to the outputs: (784, 128, 10). `likelihood` names what the outputs mean ("gaussian",
    "heteroscedastic", "probit", ...: factors/likelihoods); None is the one that `task` and `noise` stand for. A
    regression whose noise is "varying" has two outputs for each target: the targets' means first, then the logs of
    their noise variances. `layers` says of what kind each layer is, by names or as objects (factors/layers); None: all
    are dense, mix(u, W) = u W.
    """

    widths: tuple[int, ...]
    task: Task = "regression"
    activation: str = "relu"
    noise: Noise = "constant"
    likelihood: str | None = None
    layers: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        """The likelihood, where it is named, says what task and noise are; layers that are named become objects."""
        if self.likelihood in LIKELIHOODS:
            object.__setattr__(self, "task", self.output.task)
            object.__setattr__(self, "noise", self.output.noise)
        if isinstance(self.layers, list | tuple):
            object.__setattr__(self, "layers", tuple(map(layer_of, self.layers)))

    @property
    def linear(self) -> tuple[Linear, ...]:
        """The linear factor of each layer."""
        return (DENSE,) * self.n_layers if self.layers is None else self.layers

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
        return sum(one.n_params(*units) for one, units in zip(self.linear, pairwise(self.widths), strict=True))

    @property
    def n_multiply_adds(self) -> int:
        """Multiplications and additions in one forward pass of the posterior-mean network, one row."""
        return sum(one.n_multiply_adds(*units) for one, units in zip(self.linear, pairwise(self.widths), strict=True))

    def take(self, kept: Sequence[np.ndarray]) -> Network:
        """The network of these inputs and hidden units alone, indices a layer at a time."""
        widths = (*map(len, kept), self.widths[-1])
        if self.layers is None:
            return replace(self, widths=widths)
        sides = pairwise([*kept, np.arange(self.widths[-1])])
        layers = tuple(one.take(*at) for one, at in zip(self.layers, sides, strict=True))
        return replace(self, widths=widths, layers=layers)

    def check_dense(self, why: str) -> None:
        """Raise ValueError if a layer is not dense; `why` says who cannot do others, and what to do instead."""
        for one in self.linear:
            if one != DENSE:
                raise ValueError(f"layers has {one!r}: {why}")


def name_of(task: str, noise: str) -> str | None:
    """The likelihood that a task and a kind of noise stand for, or None: the first of the catalog."""
    return next((name for name, one in LIKELIHOODS.items() if (one.task, one.noise) == (task, noise)), None)


def n_params(widths: tuple[int, ...]) -> int:
    """Weights and biases of a dense network of these widths."""
    return Network(widths).n_params


def n_multiply_adds(widths: tuple[int, ...]) -> int:
    """Multiply-adds of one forward pass of a dense network of these widths."""
    return Network(widths).n_multiply_adds
