"""The probit product without EP: given the label's score the rivals are independent, so one integral is left.

Density: prod_(m != y) Phi((z_y - z_m) / sqrt(noise_var)) times N(z; mean, var). With t = z_y, a_m = (t - mean_m) / s_m
and s_m^2 = noise_var + var_m the marginal of t is N(t; mean_y, var_y) prod_m Phi(a_m), which is log-concave, and the
rivals' moments given t are those of a cut Gaussian. Left of its mode the marginal falls at least as fast as a Gaussian
of the mode's curvature, right of it as one of variance var_y: so the range is known. Oracle: autodiff of the integral.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tdamp.factors.likelihoods.base import Likelihood
from tdamp.numerics import truncated_normal
from tdamp.numerics.beliefs import Moments, Score

NODES = 256
TRAINING_NODES = 64
"""Where the integral is part of a training."""
REACH = 8.0
"""Standard deviations to either side of the mode; what lies beyond is below 1e-14."""
NEWTON = 30
"""Steps to the mode. The slope is convex and starts positive, so that Newton's method climbs and never oversteps."""


def posterior(z_fwd: Moments, label: Array, noise_var: Array, nodes: int = NODES) -> Moments:
    """Exact posterior moments of every class score, (rows, classes)."""
    mean, var = z_fwd
    is_label = jax.nn.one_hot(label, mean.shape[-1], dtype=mean.dtype)
    y_mean, y_var = (jnp.sum(is_label * moment, -1, keepdims=True) for moment in z_fwd)
    std = jnp.sqrt(noise_var + var)

    def cut(t: Array) -> truncated_normal.Truncated:
        return truncated_normal.above((mean - t) / std)

    def slope(t: Array) -> tuple[Array, Array]:
        """Of the log marginal at t, and the curvature."""
        here = cut(t)
        first = (y_mean - t) / y_var + jnp.sum((1 - is_label) * here.mean / std, -1, keepdims=True)
        second = 1 / y_var + jnp.sum((1 - is_label) * here.shrink / std**2, -1, keepdims=True)
        return first, second

    def climb(_: int, t: Array) -> Array:
        first, second = slope(t)
        return t + first / second

    mode = jax.lax.fori_loop(0, NEWTON, climb, y_mean)
    low = mode - REACH / jnp.sqrt(slope(mode)[1])
    width = mode + REACH * jnp.sqrt(y_var) - low
    places, weights = np.polynomial.legendre.leggauss(nodes)
    t = low + width * jnp.asarray((places + 1) / 2, mean.dtype)  # (rows, nodes)
    truncated = truncated_normal.above((mean[:, None] - t[..., None]) / std[:, None])  # (rows, nodes, classes)
    rival = (1 - is_label)[:, None]
    log_density = (rival * truncated.log_mass).sum(-1) - 0.5 * (t - y_mean) ** 2 / y_var
    share = jnp.asarray(weights, mean.dtype) * jnp.exp(log_density - log_density.max(-1, keepdims=True))
    share = (share / share.sum(-1, keepdims=True))[..., None]
    z_mean = jnp.where(rival > 0, mean[:, None] - (var / std)[:, None] * truncated.mean, t[..., None])
    z_var = rival * (var[:, None] - (var / std)[:, None] ** 2 * truncated.shrink)
    post_mean = (share * z_mean).sum(1)
    return Moments(post_mean, (share * (z_var + (z_mean - post_mean[:, None]) ** 2)).sum(1))


def score(z_fwd: Moments, label: Array, noise_var: Array) -> tuple[Array, Array]:
    """score and score_prec of every class score."""
    post = posterior(z_fwd, label, noise_var, TRAINING_NODES)
    prec = (1 - post.var / z_fwd.var) / z_fwd.var
    return (post.mean - z_fwd.mean) / z_fwd.var, jnp.clip(prec, 0, 1 / z_fwd.var)


def likelihood_score(likelihood: Likelihood, z_fwd: Moments, y: Array, noise_var: Array) -> Score:
    """`score` in the place of `Probit.score`."""
    return Score(*score(z_fwd, y, noise_var))
