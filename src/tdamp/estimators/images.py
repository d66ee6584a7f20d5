"""Images and sequences: their shape, rows of them as flat tables, and the layers that an estimator is to train.

A row of the engine's table is an image, place by place and channel by channel. The estimator takes images in their own
shape, too, and gives all places of a channel one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Integral
from typing import Any

import numpy as np

from ..engine.layout import lay_out
from ..engine.network import Network
from ..factors.layers.catalog import PLACED, layer_of
from ..factors.layers.dense import Dense
from . import defaults

WIDTHS = (64, 64)
"""The default of `hidden_layer_sizes`: whoever gives other widths and layers has said two things."""
SHAPE = "give input_shape=(height, width, channels), or X with the axes (rows, height, width[, channels])"


def as_table(estimator: Any, X: Any, reset: bool) -> Any:
    """X with a row of numbers for each image; what has no axes of images stays as it is.

    With `reset` the estimator learns the shape of its images, where its parameters speak of any.
    """
    if reset:
        vars(estimator).pop("input_shape_", None)
    if estimator.layers is None and estimator.input_shape is None:
        return X
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X)
        except ValueError:  # rows of different lengths: the check of tables says so
            return X
    axes = getattr(X, "shape", None)
    if axes is None or len(axes) < 2:
        return X
    if reset:
        learn_shape(estimator, axes)
    shape = shape_of(estimator)
    if len(axes) == 2 or shape is None:
        return X
    if shape not in (tuple(axes[1:]), (*axes[1:], 1)):
        raise ValueError(
            f"X has the shape {tuple(axes)}: expected rows of the shape {shape}, or flat rows of {prod(shape)}"
        )
    return X.reshape(axes[0], prod(shape))


def learn_shape(estimator: Any, axes: Sequence[int]) -> None:
    """Set the shape of the estimator's images from its parameters, or from the axes of X; or say what is missing."""
    shape = checked_shape(estimator.input_shape)
    if shape is None and len(axes) in (3, 4):
        shape = (*map(int, axes[1:]), 1) if len(axes) == 3 else tuple(map(int, axes[1:]))
    if shape is None and len(axes) == 2:
        raise ValueError(f"layers needs the shape of the images, and X has flat rows: {SHAPE}")
    if shape is None:
        raise ValueError(f"X has {len(axes)} axes: {SHAPE}")
    if len(axes) == 2 and axes[1] != prod(shape):
        raise ValueError(f"input_shape={shape} has {prod(shape)} numbers, but X has {axes[1]} columns: {SHAPE}")
    estimator.input_shape_ = shape


def checked_shape(shape: Any) -> tuple[int, ...] | None:
    """The parameter `input_shape` as a tuple, or None."""
    if shape is None:
        return None
    each = isinstance(shape, list | tuple) and [isinstance(n, Integral) and not isinstance(n, bool) for n in shape]
    if not each or not all(each) or len(shape) < 2 or min(shape) < 1:
        raise ValueError(
            f"input_shape={shape!r}: expected (height, width, channels) of images or (length, channels) of sequences, "
            "such as (28, 28, 1)"
        )
    return tuple(map(int, shape))


def shape_of(estimator: Any) -> tuple[int, ...] | None:
    """The shape of the images that the estimator was fitted to, or is to be fitted to; None if it knows of none."""
    return getattr(estimator, "input_shape_", None) or checked_shape(estimator.input_shape)


def hidden_layers(estimator: Any) -> tuple[Any, ...] | None:
    """The layers before the output, as objects; None for those of `hidden_layer_sizes`."""
    layers = estimator.layers
    if layers is None:
        return None
    sizes = estimator.hidden_layer_sizes
    if np.ndim(sizes) != 1 or tuple(sizes) != WIDTHS:
        raise ValueError(
            f"hidden_layer_sizes={sizes!r} and layers both say what is hidden: leave out hidden_layer_sizes if layers "
            "are meant, with Dense for layers of units"
        )
    shape = shape_of(estimator)
    if shape is None:
        raise ValueError(f"layers needs the shape of the images: {SHAPE}")
    if isinstance(layers, str) and layers == "image":
        return defaults.image_layers(shape)
    if not isinstance(layers, list | tuple):
        raise ValueError(
            f'layers={layers!r}: expected a sequence of layers, such as (Conv(16, 5, stride=2), Dense(64)), or "image"'
        )
    chosen = tuple(map(layer_of, layers))
    for one in chosen:
        if not isinstance(one, tuple(PLACED.values())):
            raise ValueError(f"layers has {one!r}: expected one of {', '.join(PLACED)}, as an object or a dictionary")
    return chosen


def network_of_layers(estimator: Any, layers: tuple[Any, ...], n_outputs: int, **rest: Any) -> Network:
    """The network of these layers and the output; ValueError for parameters that are of single inputs."""
    network = Network(layers=(*layers, Dense(n_outputs)), input_shape=shape_of(estimator), **rest)
    if network.is_flat:
        return network
    if estimator.groups is not None:
        raise ValueError("groups are of single inputs, but convolutions read an image whole: leave groups out")
    if isinstance(estimator.prior, str) and estimator.prior == "burst":
        raise ValueError('prior="burst" is of inputs that have neighbours, which channels have not: use "group"')
    return network


def n_channels(estimator: Any) -> int | None:
    """Channels that have a scale each; None where every column has its own, as single inputs of dense layers do."""
    layers, shape = hidden_layers(estimator), shape_of(estimator)
    if layers is None or shape is None:
        return None
    plan = lay_out((*layers, Dense(1)), shape)
    return shape[-1] if plan.input_places or plan.filters else None


def of_columns(network: Network, per_input: np.ndarray) -> np.ndarray:
    """What each input of a network has, for each column of data: places have what their channel has.

    After fixed filters, which read every channel, all columns have the largest.
    """
    if network.is_flat:
        return per_input
    if network.layout.filters:
        return np.full(network.n_columns, per_input.max())
    return np.tile(per_input, network.n_columns // len(per_input))
