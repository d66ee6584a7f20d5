"""What stands between two layers and learns nothing: padding, flattening, pooling.

Each is a linear map of fixed coefficients, u -> p, told by what it does to values, to beliefs, and to the messages that
come back. A value has the shape (rows, *places, channels). Oracle: the same map as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics.beliefs import Message, Moments

Places = tuple[int, ...]
"""Height and width of an image, length of a sequence; empty for single units."""


class Map:
    """A frozen dataclass; hashable, as it is part of what is compiled."""

    def places(self, before: Places) -> Places:
        """The places of its output."""
        return before

    def plain(self, u: Any) -> Any:
        """The map of values, NumPy or JAX."""
        raise NotImplementedError

    def forward(self, u: Moments) -> Moments:
        """The belief in its output; `u.var` may be None for data."""
        return Moments(self.plain(u.mean), None if u.var is None else self.plain(u.var))

    def backward(self, message: Message, u: Moments) -> Message:
        """The message to its input, whose belief is `u`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Flatten(Map):
    """Every channel of every place becomes a unit, place by place. Exact."""

    def places(self, before: Places) -> Places:
        """Single units."""
        return ()

    def plain(self, u: Any) -> Any:
        """The same values in a row."""
        return u.reshape(len(u), -1)

    def backward(self, message: Message, u: Moments) -> Message:
        """The same message at its place."""
        return Message(*(part.reshape(u.mean.shape) for part in message))


@dataclass(frozen=True)
class Pad(Map):
    """Zeros around an image, known for certain: so many before and after it along each axis. Exact."""

    margins: tuple[tuple[int, int], ...]

    def places(self, before: Places) -> Places:
        """With the margins."""
        return tuple(n + sum(margin) for n, margin in zip(before, self.margins, strict=True))

    def plain(self, u: Any) -> Any:
        """The values with zeros around them."""
        xp = np if isinstance(u, np.ndarray) else jnp
        return xp.pad(u, ((0, 0), *self.margins, (0, 0)))

    def backward(self, message: Message, u: Moments) -> Message:
        """What the margins are told is lost."""
        inner = tuple(slice(low, low + n) for (low, _), n in zip(self.margins, u.mean.shape[1:-1], strict=True))
        return Message(*(part[:, *inner] for part in message))


@dataclass(frozen=True)
class AvgPool(Map):
    """The mean of each window of `size` places along every axis, windows side by side; what does not fill one is cut.

    p = sum_j u_j / K. Not exact: doubt about neighbouring places comes from the weights they share and is alike, so
    that var p = mean_j var u_j (independent doubts would have a K-th of it); the precision is handed back by the
    transpose of the same map, 1 / K of it to each place. That is right for small windows, not for pools over whole
    images.
    Oracle: the same map as a matrix, and Monte Carlo over shared weights.
    """

    name: str = field(default="avg_pool", init=False)
    size: int = 2

    def __post_init__(self) -> None:
        """Refuse a window that is none."""
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size < 1:
            raise ValueError(f"AvgPool(size={self.size!r}): expected a whole number of at least 1")

    def places(self, before: Places) -> Places:
        """One for each whole window."""
        if not before or min(before) < self.size:
            raise ValueError(f"AvgPool({self.size}) does not fit into the places {before} that it is given")
        return tuple(n // self.size for n in before)

    def plain(self, u: Any) -> Any:
        """The means."""
        split, axes = self._windows(u.shape)
        inner = tuple(slice(n // self.size * self.size) for n in u.shape[1:-1])
        return u[:, *inner].reshape(split).mean(axes)

    def backward(self, message: Message, u: Moments) -> Message:
        """The score at the pooled belief, shared out, and again a message about each place."""
        score = message.shift - self.plain(u.mean) * message.prec
        score, prec = (
            self._spread(part, u.mean.shape) / self.size ** (u.mean.ndim - 2) for part in (score, message.prec)
        )
        return Message(score + u.mean * prec, prec)

    def _windows(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        split = [side for n in shape[1:-1] for side in (n // self.size, self.size)]
        return (shape[0], *split, shape[-1]), tuple(range(2, 2 * len(shape) - 3, 2))

    def _spread(self, pooled: Array, shape: tuple[int, ...]) -> Array:
        for axis in range(1, len(shape) - 1):
            pooled = jnp.repeat(pooled, self.size, axis)
        rest = [(0, whole - part) for whole, part in zip(shape, pooled.shape, strict=True)]
        return jnp.pad(pooled, rest)


def through(maps: tuple[Map, ...], u: Any) -> Any:
    """Values after all maps."""
    for one in maps:
        u = one.plain(u)
    return u


def forward(maps: tuple[Map, ...], u: Moments) -> list[Moments]:
    """The belief before and after each map."""
    beliefs = [u]
    for one in maps:
        beliefs.append(one.forward(beliefs[-1]))
    return beliefs


def backward(maps: tuple[Map, ...], message: Message, beliefs: list[Moments]) -> Message:
    """The message to what the first map has read; `beliefs` as `forward` gives them."""
    for one, u in zip(reversed(maps), reversed(beliefs[:-1]), strict=True):
        message = one.backward(message, u)
    return message


def n_places(places: Places) -> int:
    """How many; 1 for single units."""
    return prod(places)
