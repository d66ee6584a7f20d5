"""The roofline: what the matrix products of an epoch would cost at the rate of one large product."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SIZE = 2048
PRODUCTS = 4, 9
"""Products of an (inputs, outputs) array that a minibatch needs: in the first layer, in the others."""


def epoch_flops(widths: tuple[int, ...], rows: int) -> int:
    """2 rows sum_l N_(l-1) N_l x (4 products in the first layer, 9 in the others)."""
    first, others = PRODUCTS
    return 2 * rows * sum((others if l else first) * a * b for l, (a, b) in enumerate(pairwise(widths)))


def measure(size: int = SIZE, repeats: int = 7) -> dict[str, float]:
    """Rates of a size-cubed float32 product in operations a second: NumPy, JAX, and the better as `rate`.

    Each is the median of `repeats` products after one to warm up.
    """
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    product = jax.jit(jnp.matmul)
    left, right = jnp.asarray(a), jnp.asarray(b)
    by_numpy = 2 * size**3 / _median_seconds(lambda: a @ b, repeats)
    by_jax = 2 * size**3 / _median_seconds(lambda: product(left, right).block_until_ready(), repeats)
    return {"size": size, "numpy": by_numpy, "jax": by_jax, "rate": max(by_numpy, by_jax)}


def better(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    """The larger of each rate: the roofline must not profit from a moment in which the machine was busy."""
    return {key: max(value, second[key]) for key, value in first.items()}


def _median_seconds(function: Callable[[], Any], repeats: int) -> float:
    function()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))
