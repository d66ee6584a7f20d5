"""What a plot needs of an epoch: counters of every clip, and the log-evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Clips(NamedTuple):
    """How often each clip acted."""

    negative_prec: Array  # a score_prec < 0 (a factor that is not log-concave), clipped to 0
    excess_prec: Array  # a score_prec > 1 / var, clipped
    self_coupling: Array  # BiG-AMP self-coupling, or a sum of signed precisions, floored at 0
    min_var: Array  # a forward variance below its floor
    restrained: Array  # a layer's step was held back by the trust region


class Info(NamedTuple):
    """Sums over an epoch."""

    clips: Clips
    noise_clips: Array
    log_evidence: Array  # of each row before it was learned from


def no_clips() -> Clips:
    """Counters at zero."""
    zero = jnp.zeros((), jnp.int32)
    return Clips(zero, zero, zero, zero, zero)


def no_info(dtype: Any) -> Info:
    """Nothing counted yet."""
    return Info(no_clips(), jnp.zeros((), jnp.int32), jnp.zeros((), dtype))


def count(hits: Array) -> Array:
    """How many hold. Summed as float32: exact up to 16 million, and much faster than whole numbers."""
    return hits.astype(jnp.float32).sum().astype(jnp.int32)


def add(a: Any, b: Any) -> Any:
    """The sum of two trees of counters or statistics, leaf by leaf."""
    return jax.tree.map(jnp.add, a, b)
