"""The spike-slab prior of one parameter, used for the biases.

Density: rho N(b; mean, var) + (1 - rho) delta(b). Paper: "Independent Sparse Prior for Bias Pruning". Exact.
The slab already holds every message received, so the log-odds need no
memory: they are an offset plus the slab's evidence against its base N(0, base_var) (Savage-Dickey).
Oracle: quadrature.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Moments, log_norm


def evidence(slab: Moments, base_var: Array) -> Array:
    """log N(0; 0, base_var) - log N(0; slab): the slab's evidence against the spike."""
    return log_norm(slab) - 0.5 * jnp.log(base_var)


def active_logit(offset: Array, slab: Moments, base_var: Array) -> Array:
    """Posterior log-odds of the slab. `offset` is -inf for removed parameters, +inf for unquestioned ones."""
    return offset + evidence(slab, base_var)
