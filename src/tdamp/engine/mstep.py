"""M-step: noise variance and base-prior variance. (The state of a prior is learned in `turbo.learn`.)

Paper: eq. (reg_v_update), (cls_v), (cls_v_update); errata E4, E6. The statistics of the noise are plain sums, so they
add up over minibatches, chunks and clients; what they are is the likelihood's. Oracle: closed form, direct argmax.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from ..factors.likelihoods.base import NoiseRule, NoiseStats
from ..numerics.beliefs import Moments, thin
from .network import Network
from .plan import Knobs, Minibatch, Plan
from .state import State
from .turbo import Layer, row_probs

NOISE_RANGE = 1e-6, 1e6
"""Bounds of the noise variance, relative to the output scale it started from."""
NOISE_ROWS = 100
LEAST_STEPS = 20
"""`noise_rate` is of a minibatch of NOISE_ROWS rows, or of an epoch's LEAST_STEPS-th part if that is less: one large
minibatch an epoch then learns the noise in as many epochs as twenty small ones do."""


def no_stats(network: Network, rule: NoiseRule, dtype: Any) -> NoiseStats:
    """Noise statistics of no rows."""
    return network.output.empty_noise_stats(rule, network.n_targets, dtype)


def damped_noise(plan: Plan, state: State, stats: NoiseStats) -> tuple[Array, Array]:
    """The once-an-epoch update, Paper: eq. (cls_v_update), and how often its bounds acted."""
    output = plan.network.output
    target = output.noise_target(plan.noise_update, stats, state.noise_var)
    return bound_noise(output.damped_noise(state.noise_var, target), state.noise_scale)


def running_noise(
    plan: Plan, knobs: Knobs, state: State, stats: NoiseStats, z_post: Moments, batch: Minibatch
) -> tuple[Array, Array]:
    """The running estimate after a minibatch, and how often its bounds acted."""
    output, rule = plan.network.output, plan.noise_update
    target = output.noise_target(rule, stats, state.noise_var)
    target = target * jnp.exp(output.noise_log_bias(rule, z_post, batch.y, batch.weight))
    rate = noise_step(knobs.noise_rate, batch.weight, knobs.n_rows)
    return log_average(state.noise_var, target, rate, state.noise_scale)


def effective_rows(row_weight: Array) -> Array:
    """How many rows of equal weight tell as much (Kish): a heavy row is still one observation."""
    return row_weight.sum() ** 2 / jnp.maximum((row_weight**2).sum(), jnp.finfo(row_weight.dtype).tiny)


def noise_step(noise_rate: Array | float, row_weight: Array, n_rows: Array | float) -> Array:
    """The rate of a minibatch with these weights, of `n_rows` rows in all: however rows are cut, they have the same."""
    share = row_weight.sum() / n_rows
    return 1 - (1 - noise_rate) ** jnp.maximum(effective_rows(row_weight) / NOISE_ROWS, LEAST_STEPS * share)


def log_average(noise_var: Array, target: Array, rate: Array, scale: Array) -> tuple[Array, Array]:
    """One step of an exponential average of log noise_var, and how often its bounds acted."""
    target, clipped = bound_noise(target, scale)
    return noise_var * (target / noise_var) ** rate, clipped


def bound_noise(noise_var: Array, scale: Array) -> tuple[Array, Array]:
    """The NOISE_RANGE clip and its count. A NaN would pass through: the caller reports it."""
    low, high = NOISE_RANGE[0] * scale, NOISE_RANGE[1] * scale
    return jnp.clip(noise_var, low, high), jnp.sum((noise_var < low) | (noise_var > high), dtype=jnp.int32)


BASE_VAR_RANGE = 0.01, 100.0
"""A learned base variance may leave its start by these factors at most: it can then neither collapse nor blow up."""


def learn_base_var(layer: Layer, start: Array, next_present: Array | None = None) -> Layer:
    """EM for the base prior's variance: mean second moment of the layer's active weights, damped by half in log.

    `next_present`: which of the outputs that the weights lead to are still there; None means all.
    """
    probs = row_probs(layer)
    w_post = thin(layer.weight, probs[:, None])
    columns = jnp.ones_like(layer.bias.mean) if next_present is None else next_present.astype(w_post.mean.dtype)
    count = jnp.maximum(probs.sum() * columns.sum(), 1.0)
    target = ((w_post.var + w_post.mean**2) @ columns).sum() / count
    target = jnp.clip(target, BASE_VAR_RANGE[0] * start, BASE_VAR_RANGE[1] * start)
    new = jnp.sqrt(layer.base_var) * jnp.sqrt(target)  # the product of two tiny variances would be zero in float32
    return layer._replace(base_var=new)


def learn_base_vars(state: State) -> tuple[Layer, ...]:
    """`learn_base_var` of every layer."""
    present = [*(layer.offset > -jnp.inf for layer in state.layers[1:]), None]
    return tuple(map(learn_base_var, state.layers, state.base_var_start, present))
