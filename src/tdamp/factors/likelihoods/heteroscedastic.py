"""Real targets whose noise depends on the input: y = z + noise, the log of its variance being an output, too.

Density: N(y; z, noise_var exp(h)), with z the first and h the second half of the outputs. Not in the paper.
z is learned as under a constant noise of variance noise_var, the mean over rows: with its own noise for each row the
rows of little noise take the network over (measured on five tables: RMSE worse by 5 to 50 %). h is learned by its exact
message, the derivatives of `log_partition`, a sum over Gauss-Hermite nodes of h with z integrated in closed form. That
is not log-concave: a score_prec may be negative (engine.damp.clip_prec). Oracle: autodiff of
`log_partition`, quadrature.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics.beliefs import Moments, Score
from ...numerics.distribution import Distribution
from ...numerics.truncated_normal import LOG_SQRT_2PI
from .base import GaussianNoise, OutputStart

NODES = 15
"""An odd number: the middle node is the mean of h."""
LOG_RANGE = 12.0
"""h is held within this distance of zero: a noise of 0.0025 to 400 times the typical standard deviation."""


def halves(z: Moments) -> tuple[Moments, Moments]:
    """The targets' means z, and the logs of their relative noise variances h."""
    n = z.mean.shape[-1] // 2
    return Moments(z.mean[..., :n], z.var[..., :n]), Moments(z.mean[..., n:], z.var[..., n:])


def mean_noise(z: Moments, noise_var: Array) -> Array:
    """E[noise_var exp(h)], of a log-normal number."""
    _, h = halves(z)
    return noise_var * jnp.exp(jnp.clip(h.mean + 0.5 * h.var, -LOG_RANGE, LOG_RANGE))


LARGEST_VAR = 100.0
"""The largest variance of y at which the logs of the noise, which have no unit, may share the means' prior."""


class Heteroscedastic(GaussianNoise):
    """N(y; z, noise_var exp(h)): two outputs for each target."""

    name = "heteroscedastic"
    noise = "varying"
    log_concave = False
    export_form = "mean_and_log_noise"
    outputs_per_target = 2

    def check_outputs(self, n_outputs: int) -> None:
        """Two for each target."""
        if n_outputs % 2:
            raise ValueError('noise="varying" belongs to a regression with two outputs for each target')

    def check_scales(self, y_var: np.ndarray) -> None:
        """Refuse targets of a large variance."""
        if np.max(y_var) > LARGEST_VAR:
            raise ValueError(
                f'noise="varying": y has a variance of {np.max(y_var):g}, and the outputs that are logs of the noise '
                f"share a prior with the means: bring y to a variance near one, at most {LARGEST_VAR:g}, as the "
                "estimators do"
            )

    def output_start(self, y_mean: np.ndarray, y_var: np.ndarray, n_outputs: int) -> OutputStart:
        """The noise begins as constant."""
        start = super().output_start(y_mean, y_var, n_outputs)
        return start._replace(bias_mean=np.concatenate([y_mean, np.zeros_like(y_mean)]), n_random=n_outputs // 2)

    def log_partition(self, z_fwd: Moments, y: Array, noise_var: Array) -> Array:
        """log of the integral of N(h) N(y; z_mean, z_var + noise_var exp(h)), (rows, targets)."""
        log_density, _, _ = _nodes(z_fwd, y, noise_var)
        return jax.nn.logsumexp(log_density, axis=-1)

    def score(self, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
        """Score and score_prec of z and h, side by side; those of h are derivatives of `log_partition`."""
        z, _ = halves(z_fwd)
        log_density, share, square = _nodes(z_fwd, y, noise_var)
        weight = jax.nn.softmax(log_density, axis=-1)
        slope = 0.5 * share * (square - 1)  # of log N(y; ...) in h, and its own slope
        bend = 0.5 * share * ((1 - share) * (square - 1) - share * square)
        h_score = (weight * slope).sum(-1)
        h_prec = -(weight * (bend + (slope - h_score[..., None]) ** 2)).sum(-1)
        z_prec = 1 / (z.var + noise_var)
        return Score(jnp.concatenate([(y - z.mean) * z_prec, h_score], -1), jnp.concatenate([z_prec, h_prec], -1))

    def predictive(self, z: Moments, noise_var: Array) -> Distribution:
        """The noise variance of each row is E[noise_var exp(h)]."""
        noise_var = mean_noise(z, noise_var)
        z, _ = halves(z)
        return Distribution.from_vars(z.mean, z.var, noise_var)


def _nodes(z_fwd: Moments, y: Array, noise_var: Array) -> tuple[Array, Array, Array]:
    """Three arrays (rows, targets, nodes of h): the log of the node's weight times the density of y, the share of the
    noise in the variance of y, and (y - z_mean)^2 relative to that variance."""
    z, h = halves(z_fwd)
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    dtype = z.mean.dtype
    at = h.mean[..., None] + jnp.sqrt(h.var)[..., None] * jnp.asarray(points, dtype)
    noise = noise_var[..., None] * jnp.exp(jnp.clip(at, -LOG_RANGE, LOG_RANGE))
    var = z.var[..., None] + noise
    square = (y - z.mean)[..., None] ** 2 / var
    log_weight = jnp.asarray(np.log(weights / weights.sum()), dtype)
    return log_weight - 0.5 * (square + jnp.log(var)) - LOG_SQRT_2PI, noise / var, square
