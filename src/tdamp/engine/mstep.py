"""M-step: noise variance, base-prior variance and the burst chain.

Paper: eq. (reg_v_update), (cls_v), (cls_v_update); errata E4, E6. Statistics are plain sums, so they add up over
minibatches, chunks and clients. Oracle: closed form, direct argmax, enumeration.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..factors.likelihoods import probit
from ..factors.priors import burst, group
from ..numerics import gumbel, truncated_normal
from ..numerics.beliefs import Moments, thin
from .network import Network, Task
from .turbo import Layer

NoiseRule = Literal["em", "numerical", "fixed"]

NOISE_RANGE = 1e-6, 1e6
"""Bounds of the noise variance, relative to the output scale it started from."""
NOISE_DAMPING = 0.5
NOISE_ROWS = 100
LEAST_STEPS = 20
"""`noise_rate` is of a minibatch of NOISE_ROWS rows, or of an epoch's LEAST_STEPS-th part if that is less: one large
minibatch an epoch then learns the noise in as many epochs as twenty small ones do."""
_GRID = np.linspace(-4.0, 4.0, 41)  # log candidates around the present noise variance, for `numerical`
_HERMITE = np.polynomial.hermite_e.hermegauss(9)


class NoiseStats(NamedTuple):
    """Sums over rows: their weight, and what the rule needs, (k, outputs) or (k,)."""

    weight: Array
    sums: Array


def noise_stats(
    task: Task, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array, noise_var: Array
) -> NoiseStats:
    """Sufficient statistics of a minibatch for `noise_target`."""
    w = row_weight[:, None]
    weight = row_weight.sum()
    if task == "regression":
        n = y.shape[-1]  # where the noise varies, its logs are behind the means
        return NoiseStats(weight, (w * ((y - z_post.mean[:, :n]) ** 2 + z_post.var[:, :n])).sum(0))
    margin, rival = probit.margins(z_post, y)
    w = w * rival / (margin.mean.shape[-1] - 1)
    if rule == "numerical":
        nodes, weights = _HERMITE
        points = margin.mean[..., None] + jnp.sqrt(margin.var)[..., None] * jnp.asarray(nodes, w.dtype)
        share = w[..., None] * jnp.asarray(weights / weights.sum(), w.dtype)
        scales = jnp.exp(-0.5 * jnp.asarray(_GRID, w.dtype)) / jnp.sqrt(noise_var)
        return NoiseStats(weight, jnp.stack([(share * truncated_normal.log_ndtr(-points * s)).sum() for s in scales]))
    return NoiseStats(weight, jnp.stack([(w * margin.mean).sum(), (w * (margin.mean**2 + margin.var)).sum()]))


def no_stats(network: Network, rule: NoiseRule, dtype: Any) -> NoiseStats:
    """`noise_stats` of no rows."""
    size = network.n_targets if network.task == "regression" else len(_GRID) if rule == "numerical" else 2
    return NoiseStats(jnp.zeros((), dtype), jnp.zeros(size, dtype))


def noise_target(task: Task, rule: NoiseRule, stats: NoiseStats, noise_var: Array) -> Array:
    """The noise variance that maximises the expected log-likelihood under `stats`."""
    if rule == "fixed":
        return noise_var
    mean = stats.sums / jnp.maximum(stats.weight, jnp.finfo(stats.sums.dtype).tiny)
    if task == "regression":
        return mean
    if rule == "numerical":
        return noise_var * jnp.exp(_peak(mean))
    loc, scale = gumbel.fit(mean[0], mean[1])
    scale = jnp.maximum(scale, jnp.finfo(scale.dtype).tiny)
    return scale**2 * gumbel.best_noise_var(loc / scale)


def _peak(objective: Array) -> Array:
    """Where a smooth function sampled on _GRID peaks: its best node, moved by a parabola through three."""
    i = jnp.clip(jnp.argmax(objective), 1, len(_GRID) - 2)
    left, here, right = objective[i - 1], objective[i], objective[i + 1]
    bend = left - 2 * here + right
    shift = jnp.where(bend < 0, 0.5 * (left - right) / jnp.where(bend < 0, bend, -1), 0)
    return jnp.asarray(_GRID, objective.dtype)[i] + jnp.clip(shift, -1, 1) * float(_GRID[1] - _GRID[0])


def damped_noise(task: Task, noise_var: Array, target: Array, scale: Array) -> tuple[Array, Array]:
    """The once-an-epoch update, Paper: eq. (cls_v_update): half old, half new; regression takes the new one."""
    new = target if task == "regression" else noise_var + NOISE_DAMPING * (target - noise_var)
    return bound_noise(new, scale)


def effective_rows(row_weight: Array) -> Array:
    """How many rows of equal weight tell as much (Kish): a heavy row is still one observation."""
    return row_weight.sum() ** 2 / jnp.maximum((row_weight**2).sum(), jnp.finfo(row_weight.dtype).tiny)


def noise_step(noise_rate: Array | float, row_weight: Array, n_rows: Array | float) -> Array:
    """The rate of a minibatch with these weights, of `n_rows` rows in all: however rows are cut, they have the same."""
    share = row_weight.sum() / n_rows
    return 1 - (1 - noise_rate) ** jnp.maximum(effective_rows(row_weight) / NOISE_ROWS, LEAST_STEPS * share)


def log_bias(task: Task, rule: NoiseRule, z_post: Moments, y: Array, row_weight: Array) -> Array:
    """By how much the mean of log(target) falls short of the log of its mean, as minibatches are small.

    The target of a regression is a mean of squared residuals and of variances. With Gaussian residuals k rows make the
    log of the former log(k / 2) - digamma(k / 2) too small, and that of the sum less, by the square of its share.
    Exact where the variances are small; of classes it is not known, and left out.
    """
    if task == "classification" or rule == "fixed":
        return jnp.zeros((), z_post.mean.dtype)
    n, w = y.shape[-1], row_weight[:, None]
    squares, variances = (w * (y - z_post.mean[:, :n]) ** 2).sum(0), (w * z_post.var[:, :n]).sum(0)
    share = squares / jnp.maximum(squares + variances, jnp.finfo(squares.dtype).tiny)
    half = 0.5 * jnp.maximum(row_weight.sum(), 1.0)  # a weight is copies, as everywhere in a training
    return share**2 * (jnp.log(half) - jax.scipy.special.digamma(half))


def running_noise(noise_var: Array, target: Array, rate: Array, scale: Array) -> tuple[Array, Array]:
    """The running estimate: an exponential average of log noise_var, one step per minibatch."""
    target, clipped = bound_noise(target, scale)
    return noise_var * (target / noise_var) ** rate, clipped


def bound_noise(noise_var: Array, scale: Array) -> tuple[Array, Array]:
    """The NOISE_RANGE clip and its count. A NaN would pass through: the caller reports it."""
    low, high = NOISE_RANGE[0] * scale, NOISE_RANGE[1] * scale
    return jnp.clip(noise_var, low, high), jnp.sum((noise_var < low) | (noise_var > high), dtype=jnp.int32)


BASE_VAR_RANGE = 0.01, 100.0
"""A learned base variance may leave its start by these factors at most: it can then neither collapse nor blow up."""


def learn_base_var(layer: Layer, start: Array, heard: Array | None = None) -> Layer:
    """EM for the base prior's variance: mean second moment of the layer's active weights, damped by half in log.

    `heard` tells which of the units that the weights lead to are still there; None means all.
    """
    w_post = thin(layer.weight, layer.active_prob[:, None])
    columns = jnp.ones_like(layer.bias.mean) if heard is None else heard.astype(w_post.mean.dtype)
    count = jnp.maximum(layer.active_prob.sum() * columns.sum(), 1.0)
    target = ((w_post.var + w_post.mean**2) @ columns).sum() / count
    target = jnp.clip(target, BASE_VAR_RANGE[0] * start, BASE_VAR_RANGE[1] * start)
    new = jnp.sqrt(layer.base_var) * jnp.sqrt(target)  # the product of two tiny variances would be zero in float32
    return layer._replace(base_var=new)


def learn_chain(layer: Layer, group_of: Array | None) -> Layer:
    """M-step of the burst prior's transition probabilities."""
    unary = group.active_logit(layer.offset, layer.weight, layer.base_var, group_of)
    return layer._replace(chain=burst.learn(burst.transition_counts(unary, layer.chain)))
