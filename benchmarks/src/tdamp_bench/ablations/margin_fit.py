"""The margins z_m - z_y of the training rows as a mixture of Gaussians, and the minimum Gumbel fitted to it.

Paper: eq. (cls_v). Each row and rival class m gives one Gaussian, from the posterior of z given the row's own label,
as the M-step takes it, but with the weights as they are at the epoch's end for all rows alike.
Oracle: both densities have the mixture's first two moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.integrate import cumulative_trapezoid
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from tdamp.engine.network import Network
from tdamp.engine.predict import output_moments
from tdamp.factors.likelihoods.probit import Probit
from tdamp.factors.likelihoods.probit import margins as margins_of
from tdamp.numerics import gumbel
from tdamp.numerics.beliefs import Moments

POINTS = 4001
"""Of the grid on which densities are integrated."""
CHUNK = 2000
"""Gaussians whose densities are computed at a time."""
REACH = 6.0
"""Standard deviations beyond which a Gaussian of the mixture is left out of the grid."""
SEARCH = 6.0
"""The direct argmax is looked for within this many nats of the Gumbel rule's noise variance."""


@partial(jax.jit, static_argnums=0)
def margins(network: Network, layers: Any, noise_var: Array, x: Array, y: Array) -> tuple[Moments, Array]:
    """Margins of every row and class under the posterior of z, and which of them are rivals."""
    z = output_moments(network, layers, x)
    score, prec = Probit().score(z, y, noise_var)
    z_post = Moments(z.mean + z.var * score, z.var * jnp.maximum(1 - z.var * prec, 0))
    return margins_of(z_post, y)


def mixture(network: Network, state: Any, x: np.ndarray, y: np.ndarray) -> Moments:
    """Means and variances of all Gaussians of the mixture, which weigh the same."""
    means, variances = [], []
    for i in range(0, len(x), CHUNK):
        margin, rival = margins(network, state.layers, state.noise_var, x[i : i + CHUNK], y[i : i + CHUNK])
        there = np.asarray(rival) > 0
        means.append(np.asarray(margin.mean)[there])
        variances.append(np.asarray(margin.var)[there])
    return Moments(np.concatenate(means).astype(np.float64), np.concatenate(variances).astype(np.float64))  # type: ignore[arg-type]


def mixture_density(parts: Moments, grid: np.ndarray) -> np.ndarray:
    """Mean of the Gaussians' densities; one that is narrower than the grid's step is widened to it."""
    mean, std = np.asarray(parts.mean), np.maximum(np.sqrt(np.asarray(parts.var)), grid[1] - grid[0])
    total = np.zeros(len(grid))
    for i in range(0, len(mean), CHUNK):
        total += np.asarray(_sum_of_normals(mean[i : i + CHUNK], std[i : i + CHUNK], grid))
    return total / len(mean)


@jax.jit
def _sum_of_normals(mean: Array, std: Array, grid: Array) -> Array:
    return (jnp.exp(-0.5 * ((grid[:, None] - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi))).sum(1)


def gumbel_density(loc: float, scale: float, grid: np.ndarray) -> np.ndarray:
    """The minimum Gumbel's."""
    t = (grid - loc) / scale
    return np.exp(t - np.exp(t)) / scale


@dataclass(frozen=True)
class Fit:
    """Both densities on a grid, and what is to be compared."""

    grid: np.ndarray
    mixture: np.ndarray
    gumbel: np.ndarray
    numbers: dict[str, float]


NUMBERS = ("mean", "var", "skew", "gumbel_loc", "gumbel_scale", "gumbel_noise", "direct_noise", "ratio", "tv", "ks")


def fit(parts: Moments) -> Fit:
    """The Gumbel with the mixture's mean and variance, the two noise variances, and two distances.

    `ratio` is the Gumbel rule's noise variance over the direct argmax's; `tv` the total variation, half of the
    integral of |difference|; `ks` the largest difference of the distribution functions.
    """
    mean, var = np.asarray(parts.mean), np.asarray(parts.var)
    first, second = mean.mean(), (mean**2 + var).mean()
    loc, scale = (float(number) for number in gumbel.fit(jnp.asarray(first), jnp.asarray(second)))
    std = np.sqrt(var)
    low = min((mean - REACH * std).min(), loc - 16 * scale)
    high = max((mean + REACH * std).max(), loc + 3 * scale)
    grid = np.linspace(low, high, POINTS)
    mixed, fitted = mixture_density(parts, grid), gumbel_density(loc, scale, grid)
    rule = scale**2 * float(gumbel.best_noise_var(jnp.asarray(loc / scale)))
    direct = direct_noise(grid, mixed, rule)
    spread = second - first**2
    apart = np.abs(cumulative_trapezoid(mixed - fitted, grid))
    numbers = {
        "mean": float(first),
        "var": float(spread),
        "skew": float(np.mean((mean - first) ** 3 + 3 * (mean - first) * var) / spread**1.5),
        "gumbel_loc": loc,
        "gumbel_scale": scale,
        "gumbel_noise": rule,
        "direct_noise": direct,
        "ratio": rule / direct,
        "tv": float(0.5 * np.trapezoid(np.abs(mixed - fitted), grid)),
        "ks": float(apart.max()),
    }
    return Fit(grid, mixed, fitted, numbers)


def direct_noise(grid: np.ndarray, density: np.ndarray, guess: float) -> float:
    """argmax over v of the integral of density(margin) log Phi(-margin / sqrt(v)), near a guess."""

    def loss(log_var: float) -> float:
        return -float(np.trapezoid(density * log_ndtr(-grid * np.exp(-0.5 * log_var)), grid))

    about = float(np.log(guess))
    minimum = minimize_scalar(loss, bounds=(about - SEARCH, about + SEARCH), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(minimum.x))


def shown(fitted: Fit, points: int) -> Sequence[np.ndarray]:
    """Grid and both densities where they can be seen, each scaled to a maximum of 1."""
    scaled = fitted.mixture / fitted.mixture.max(), fitted.gumbel / fitted.gumbel.max()
    seen = np.flatnonzero(np.maximum(*scaled) > 1e-3)
    grid = np.linspace(fitted.grid[seen[0]], fitted.grid[seen[-1]], points)
    return grid, *(np.interp(grid, fitted.grid, density) for density in scaled)
