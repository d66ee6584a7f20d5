"""Real targets with constant noise: y = z + noise.

Density: prod_m N(y_m; z_m, noise_var_m). Paper: eq. (regression_likelihood). Exact.
Oracle: autodiff of `log_partition`.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Moments, Score
from ...numerics.distribution import Distribution
from ...numerics.truncated_normal import LOG_SQRT_2PI
from .base import GaussianNoise


class Gaussian(GaussianNoise):
    """N(y; z, noise_var), each target with its own noise variance."""

    name = "gaussian"
    export_form = "mean"

    def log_partition(self, z_fwd: Moments, y: Array, noise_var: Array) -> Array:
        """log N(y; z_mean, z_var + noise_var), (rows, targets)."""
        var = z_fwd.var + noise_var
        return -0.5 * ((y - z_fwd.mean) ** 2 / var + jnp.log(var)) - LOG_SQRT_2PI

    def score(self, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
        """Score and score_prec of z."""
        prec = 1 / (z_fwd.var + noise_var)
        return Score((y - z_fwd.mean) * prec, prec)

    def predictive(self, z: Moments, noise_var: Array) -> Distribution:
        """The outputs are the targets' means; the noise is the same in every row."""
        return Distribution.from_vars(z.mean, z.var, noise_var)
