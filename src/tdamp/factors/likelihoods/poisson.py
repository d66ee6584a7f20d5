"""Counts: y is Poisson with rate exp(z).

Density: exp(y z - exp(z)) / y!. Not in the paper. Its integrals over a Gaussian z are those of `numerics.counts`.
There is no noise to learn: `noise_var` is carried along and means nothing. Oracle: quadrature, autodiff of
`log_partition`.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics import counts
from ...numerics.beliefs import Moments, Score
from ...numerics.distribution import CountDistribution
from .base import Likelihood, OutputStart, check_numbers

MIN_MEAN = 0.5
"""The logarithm of a mean count starts no lower than that of this."""


class Poisson(Likelihood):
    """Poisson(y; exp(z)), one output for each target."""

    name = "poisson"
    task = "regression"
    noise = "none"
    log_concave = False  # it is, but the quadrature rounds: the clip is counted
    scales_targets = False
    export_form = "log_rate"

    def check_y(self, y: np.ndarray, n_targets: int, dtype: Any) -> np.ndarray:
        """(rows, targets) of counts 0, 1, 2, ..."""
        y = check_numbers(y, n_targets)
        if (y < 0).any() or (y != np.floor(y)).any():
            raise ValueError("y has numbers that are no counts: likelihood='poisson' expects 0, 1, 2, ...")
        return y.astype(dtype)

    def target_var(self, y: np.ndarray, y_mean: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Logs of rates have no unit."""
        return np.ones_like(y_mean)

    def output_start(self, y_mean: np.ndarray, y_var: np.ndarray, n_outputs: int) -> OutputStart:
        """Biases at the logs of the mean counts."""
        log_mean = np.log(np.maximum(y_mean, MIN_MEAN))
        return OutputStart(1.0, log_mean, float(1 + np.square(log_mean).mean()), n_outputs)

    def log_partition(self, z_fwd: Moments, y: Array, noise_var: Array) -> Array:
        """log of the integral of N(z; z_fwd) exp(y z - exp(z)) / y!, (rows, targets)."""
        return counts.log_prob(y, z_fwd.mean, z_fwd.var)

    def score(self, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
        """Score and score_prec of z: from the likelihood's derivatives where z is narrow, else from its moments."""
        at = counts.tilted(y, z_fwd.mean, z_fwd.var)
        rate = at.rate * (at.share * jnp.exp(at.offset)).sum(-1)
        rate_var = at.rate**2 * (at.share * jnp.exp(2 * at.offset)).sum(-1) - rate**2
        mean = (at.share * at.offset).sum(-1)
        var = (at.share * (at.offset - mean[..., None]) ** 2).sum(-1)
        narrow = (z_fwd.var < 1) & (z_fwd.var * at.rate < 1)
        score = jnp.where(narrow, y - rate, (at.mode - z_fwd.mean + mean) / z_fwd.var)
        return Score(score, jnp.where(narrow, rate - rate_var, (1 - var / z_fwd.var) / z_fwd.var))

    def predictive(self, z: Moments, noise_var: Array) -> CountDistribution:
        """Counts with a log-normal rate."""
        return CountDistribution.from_log_rate(z.mean, z.var)
