"""What each place of a filter's output sees of its input, a row of numbers; and the way back."""

from __future__ import annotations

from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .maps import Places

Sides = tuple[int, ...]
"""A number for each axis."""


def fitted(before: Places, kernel: Sides, stride: Sides, padding: str) -> tuple[tuple[tuple[int, int], ...], Places]:
    """The zeros before and after an input along each axis, and the places of the output, which may be less than one."""
    if padding == "valid":
        after = tuple((n - k) // s + 1 for n, k, s in zip(before, kernel, stride, strict=True))
        return ((0, 0),) * len(before), after
    after = tuple(-(-n // s) for n, s in zip(before, stride, strict=True))
    more = [max((o - 1) * s + k - n, 0) for n, k, s, o in zip(before, kernel, stride, after, strict=True)]
    return tuple((m // 2, m - m // 2) for m in more), after


def patches(u: Any, kernel: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    """What each place of the output sees, (rows, *places, taps x channels), taps first."""
    sides = [(n - k) // s + 1 for n, k, s in zip(u.shape[1:-1], kernel, stride, strict=True)]
    parts = []
    for tap in product(*map(range, kernel)):
        seen = tuple(slice(t, t + s * (n - 1) + 1, s) for t, s, n in zip(tap, stride, sides, strict=True))
        parts.append(u[:, *seen])
    return (np if isinstance(u, np.ndarray) else jnp).concatenate(parts, -1)


def unpatch(parts: Array, shape: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...]) -> Array:
    """The transpose of `patches`: every part added to its place of an input of this `shape`.

    The input is cut into interleaved grids, one for each offset within the stride, to which a tap adds a whole piece at
    once. (The transposes that JAX finds of slices and convolutions take 10 to 50 times as long on a CPU.)
    """
    rows, *inner, channels = shape
    sides, axes = parts.shape[1:-1], len(inner)
    grid = [-(-n // s) for n, s in zip(inner, stride, strict=True)]
    parts = parts.reshape(rows, *sides, *kernel, channels)
    total = jnp.zeros((*stride, rows, *grid, channels), parts.dtype)
    for tap in product(*map(range, kernel)):
        at = (
            *(t % s for t, s in zip(tap, stride, strict=True)),
            0,
            *(t // s for t, s in zip(tap, stride, strict=True)),
            0,
        )
        here = jax.lax.dynamic_slice(total, at, (*(1,) * axes, rows, *sides, channels))
        part = parts[:, *(slice(None),) * axes, *tap].reshape(here.shape)
        total = jax.lax.dynamic_update_slice(total, here + part, at)
    pairs = [axis for a in range(axes) for axis in (axes + 1 + a, a)]
    whole = total.transpose(axes, *pairs, 2 * axes + 1).reshape(
        rows, *(n * s for n, s in zip(grid, stride, strict=True)), channels
    )
    return whole[:, *(slice(n) for n in inner)]
