"""The convolution z_p = sum_t u_(p stride + t) W_t + b: the same weights at every place of an image or a sequence.

Density: prod_(i,p,m) delta(z_ipm - sum_(t,n) u_(i, p stride + t, n) W_(tn,m) - b_m), p the places, t the taps of the
filter, n and m channels. W is a table (taps x channels, outputs), and the inputs of a place, its patch, are a row: the
messages are those of a dense layer on patches, and what patches share is added up. Beliefs of neighbouring places are
taken as independent given the weights. Oracle: the same map as a dense matrix with tied weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal

import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Message
from .base import Linear
from .maps import Map, Pad, Places
from .patches import fitted, patches, unpatch


@dataclass(frozen=True)
class Conv(Linear):
    """`channels` filters of `kernel` taps along each axis, every `stride` places, on an image or a sequence.

    Numbers stand for all axes. With padding "same" there are ceil(places / stride) places afterwards, zeros being put
    around the input; with "valid" filters stay inside.
    """

    name: str = field(default="conv", init=False)
    channels: int = 1
    kernel: int | tuple[int, ...] = 3
    stride: int | tuple[int, ...] = 1
    padding: Literal["same", "valid"] = "same"

    def __post_init__(self) -> None:
        """Refuse what is no filter."""
        if not isinstance(self.channels, int) or self.channels < 1:
            raise ValueError(f"Conv(channels={self.channels!r}): expected a whole number of at least 1")
        for name in ("kernel", "stride"):
            value = getattr(self, name)
            sides = value if isinstance(value, tuple) else (value,)
            if not sides or not all(isinstance(side, int) and side >= 1 for side in sides):
                raise ValueError(f"Conv({name}={value!r}): expected whole numbers of at least 1")
        if self.padding not in ("same", "valid"):
            raise ValueError(f'Conv(padding={self.padding!r}): expected "same" or "valid"')

    # its place in a network

    @property
    def units(self) -> int:
        """Outputs of one place."""
        return self.channels

    @property
    def shares_weights(self) -> bool:
        """A weight belongs to every place."""
        return True

    def placed(self, before: Places) -> tuple[Linear, tuple[Map, ...], Places]:
        """The convolution of an input with these places, the padding it needs, and the places of its output."""
        kernel, stride = (_each(self, name, len(before)) for name in ("kernel", "stride"))
        margins, after = fitted(before, kernel, stride, self.padding)
        maps: tuple[Map, ...] = (Pad(margins),) if any(map(any, margins)) else ()
        if not before or min(after) < 1:
            raise ValueError(f"{self} does not fit into the places {before} of its input: use a smaller kernel")
        return replace(self, kernel=kernel, stride=stride, padding="valid"), maps, after

    def copies_at(self, before: Places) -> int:
        """A row for each tap."""
        return prod(_each(self, "kernel", len(before)))

    # the map

    def mix(self, u: Any, w: Any) -> Any:
        """The outputs of (rows, *places, channels), without bias."""
        return patches(u, self._kernel, self._stride) @ w

    def weight_adjoint(self, u: Array, s: Array, like: Array) -> Array:
        """Patches' s, summed over rows and places."""
        return patches(u, self._kernel, self._stride).reshape(-1, like.shape[0]).T @ s.reshape(-1, like.shape[1])

    def input_adjoint(self, s: Array, w: Array, like: Array) -> Array:
        """s W', every tap's part added where its patch was."""
        return unpatch(s @ w.T, like.shape, self._kernel, self._stride)

    def centred(self, u: Any, centre: Any) -> Any:
        """Inputs from the centres of their channels; the padding, too, which is known to be zero."""
        return u - centre[: u.shape[-1]]

    def uncentred(self, message: Message, centre: Array) -> Message:
        """The message about the channels themselves."""
        return super().uncentred(message, centre[: message.prec.shape[-1]])

    def over_rows(self, row_weight: Array, u: Array) -> Array:
        """The same of each channel's mean over all places."""
        means = u.mean(tuple(range(1, u.ndim - 1)))
        return jnp.tile(row_weight @ means, prod(self._kernel))

    @property
    def _kernel(self) -> tuple[int, ...]:
        assert isinstance(self.kernel, tuple), "the convolution has its place in a network"
        return self.kernel

    @property
    def _stride(self) -> tuple[int, ...]:
        assert isinstance(self.stride, tuple), "the convolution has its place in a network"
        return self.stride


def _each(layer: Conv, name: str, axes: int) -> tuple[int, ...]:
    value = getattr(layer, name)
    sides = value if isinstance(value, tuple) else (value,) * axes
    if len(sides) != axes:
        raise ValueError(f"Conv({name}={value!r}): the input has {axes} axes of places")
    return sides
