"""The network's shape: its layers, activation and likelihood, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, Literal

import numpy as np

from ..factors.activations import piecewise
from ..factors.activations.catalog import ACTIVATIONS
from ..factors.layers.base import Linear
from ..factors.layers.catalog import layer_of
from ..factors.layers.dense import Dense
from ..factors.likelihoods.base import Likelihood, Task
from ..factors.likelihoods.catalog import LIKELIHOODS
from .layout import Layout, Place, dense, flat, lay_out

Noise = Literal["constant", "varying", "none"]


@dataclass(frozen=True)
class Network:
    """A feed-forward network z_l = mix_l(u_(l-1), W_l) + b_l, u_l = activation(z_l), with its output task.

    `widths` runs from the inputs to the outputs: (784, 128, 10). `likelihood` names what the outputs mean ("gaussian",
    "heteroscedastic", "probit", ...: factors/likelihoods); None is the one that `task` and `noise` stand for. A
    regression whose noise is "varying" has two outputs for each target: the targets' means first, then the logs of
    their noise variances. `layers` says of what kind each layer is, by names or as objects (factors/layers); None: all
    are dense, mix(u, W) = u W.

    With an `input_shape`, (height, width, channels), `layers` describes the network by itself, from Conv, Dense,
    AvgPool, Residual and FixedFilter: `Network(input_shape=(28, 28, 1), layers=(Conv(16, 5, stride=2), Dense(10)))`.
    Data stay tables whose rows are images, place by place and channel by channel; `widths` are then channels and units,
    and are found from the layers.
    """

    widths: tuple[int, ...] = ()
    task: Task = "regression"
    activation: str = "relu"
    noise: Noise = "constant"
    likelihood: str | None = None
    layers: tuple[Any, ...] | None = None
    input_shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """The likelihood, where it is named, says what task and noise are; layers that are named become objects."""
        if self.likelihood in LIKELIHOODS:
            object.__setattr__(self, "task", self.output.task)
            object.__setattr__(self, "noise", self.output.noise)
        if isinstance(self.layers, list | tuple):
            object.__setattr__(self, "layers", tuple(map(layer_of, self.layers)))
        if self.input_shape is not None:
            object.__setattr__(self, "input_shape", tuple(self.input_shape))
            widths = lay_out(self.layers or (), self.input_shape).widths
            if self.widths and len(self.widths) != len(widths):
                raise ValueError(f"widths={self.widths!r}: the layers have {len(widths) - 1} that learn")
            object.__setattr__(self, "widths", self.widths or widths)

    @cached_property
    def layout(self) -> Layout:
        """The layers in their places."""
        if self.input_shape is not None:
            return lay_out(self.layers or (), self.input_shape)
        return dense(self.n_layers) if self.layers is None else flat(self.layers)

    @property
    def places(self) -> tuple[Place, ...]:
        """Each layer that learns, in its place."""
        return self.layout.places

    @property
    def linear(self) -> tuple[Linear, ...]:
        """The linear factor of each layer."""
        return tuple(place.linear for place in self.places)

    @property
    def is_flat(self) -> bool:
        """Whether every number of a row is an input, a unit that may go by itself, and centred before training."""
        return self.input_shape is None or not (self.layout.input_places or self.layout.filters)

    @property
    def shares_weights(self) -> bool:
        """Whether any layer has weights that belong to several places."""
        return self.input_shape is not None and self.layout.shares_weights

    @property
    def rigid(self) -> frozenset[int]:
        """Values whose units stay in the arrays when they are removed: images of data, and both ends of a skip."""
        return frozenset() if self.input_shape is None else self.layout.rigid

    @property
    def n_columns(self) -> int:
        """Numbers in a row of data."""
        return self.widths[0] if self.input_shape is None else prod(self.input_shape)

    def columns(self, inputs: np.ndarray) -> np.ndarray:
        """The columns of data that a network of these inputs alone reads: an image is read whole."""
        return inputs if self.is_flat else np.arange(self.n_columns)

    def enter(self, x: Any) -> Any:
        """Value 0 of rows of data, NumPy or JAX: images in their shape, after the fixed filters."""
        if self.is_flat:
            return x
        x = x.reshape(len(x), *(self.input_shape or ()))
        for one in self.layout.filters:
            x = piecewise.apply(ACTIVATIONS[one.activation].regions, one(x))
        return x

    def is_removable(self, value: int) -> bool:
        """Whether units of this value leave the arrays once they are removed."""
        return value not in self.rigid

    def of_units(self, counts: Sequence[int]) -> Network:
        """The network whose arrays hold so many inputs and units of each hidden layer; those that stay are all held."""
        pairs = enumerate(zip(counts, self.widths, strict=False))
        return replace(self, widths=(*(n if self.is_removable(v) else all_ for v, (n, all_) in pairs), self.widths[-1]))

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
        """Units that own a weight group, Q_W: the inputs and the hidden units (erratum E9), channels being units."""
        return sum(self.widths[:-1])

    @property
    def tables(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of each layer's table of weights."""
        if self.input_shape is None:
            return tuple(pairwise(self.widths))
        sides = zip(self.places, pairwise(self.widths), strict=True)
        return tuple((place.copies * n_in, n_out) for place, (n_in, n_out) in sides)

    @property
    def n_seen(self) -> int:
        """Numbers that the layer with the largest input sees of a row, the same ones at several places included."""
        return max(place.n_places * n_in for place, (n_in, _) in zip(self.places, self.tables, strict=True))

    @property
    def n_params(self) -> int:
        """Weights and biases."""
        return sum(one.n_params(*table) for one, table in zip(self.linear, self.tables, strict=True))

    @property
    def n_multiply_adds(self) -> int:
        """Multiplications and additions in one forward pass of the posterior-mean network, one row."""
        shape, filtered = (self.input_shape or ())[:-1], 0
        for one in self.layout.filters:
            filtered, shape = filtered + one.n_multiply_adds(shape), one.places(shape)
        layers = zip(self.places, self.tables, strict=True)
        return filtered + sum(place.n_places * place.linear.n_multiply_adds(*table) for place, table in layers)

    def take(self, kept: Sequence[np.ndarray]) -> Network:
        """The network of these inputs and hidden units alone, indices a layer at a time."""
        widths = (*map(len, kept), self.widths[-1])
        if self.layers is None or self.input_shape is not None:
            return replace(self, widths=widths)
        sides = pairwise([*kept, np.arange(self.widths[-1])])
        layers = tuple(one.take(*at) for one, at in zip(self.layers, sides, strict=True))
        return replace(self, widths=widths, layers=layers)

    def check_dense(self, why: str) -> None:
        """Raise ValueError if a layer is not dense; `why` says who cannot do others, and what to do instead."""
        for one in self.layers or ():
            if not isinstance(one, Dense):
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
