"""The regression output: y = z + noise.

Density: prod_m N(y_m; z_m, noise_var_m). Paper: eq. (regression_likelihood). Exact.
Oracle: autodiff of `log_partition`.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Moments
from ...numerics.truncated_normal import LOG_SQRT_2PI


def log_partition(z_fwd: Moments, y: Array, noise_var: Array) -> Array:
    """log N(y; z_mean, z_var + noise_var), the log score of one sample's outputs."""
    var = z_fwd.var + noise_var
    return -0.5 * ((y - z_fwd.mean) ** 2 / var + jnp.log(var)) - LOG_SQRT_2PI


def score(z_fwd: Moments, y: Array, noise_var: Array) -> tuple[Array, Array]:
    """score and score_prec of z."""
    prec = 1 / (z_fwd.var + noise_var)
    return (y - z_fwd.mean) * prec, prec
