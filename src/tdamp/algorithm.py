"""Algorithm 1 on one screen: init, minibatch_step, em_iteration, and the training loop fit.

E-step: over the minibatches, Module B tells Module A the weights' marginals (turbo), Module A passes messages forward
and backward (damp), and the posterior becomes the next prior (pasp). M-step: noise, base variance, chain (mstep).
Then units are removed (prune) and leave the arrays. Everything down to `em_iteration` is a pure function.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from . import damp, mstep, pasp, prune, turbo
from .beliefs import Message, combine
from .checks import check_data, check_groups
from .factors import burst, gaussian_output, probit_output
from .network import Network
from .outcome import Outcome
from .settings import Settings, check_network


class State(NamedTuple):
    """What the next minibatch needs: the posterior of every layer, and the noise."""

    layers: tuple[turbo.Layer, ...]
    noise_var: Array  # (outputs,) for regression, () for classification
    noise_scale: Array  # where it started, for its bounds
    base_var_start: tuple[Array, ...]


class Info(NamedTuple):
    """What a plot needs, summed over an epoch."""

    clips: damp.Clips
    noise_clips: Array
    log_evidence: Array  # of each row before it was learned from


class Plan(NamedTuple):
    """The static part of the settings: a change of it compiles anew."""

    network: Network
    prior: turbo.Prior
    pasp: pasp.Pasp
    noise_update: mstep.NoiseRule
    noise_every: str
    batch_size: int
    single: bool
    learn_base_var: bool


class Knobs(NamedTuple):
    """The numbers that may change from epoch to epoch without compiling anew."""

    data_weight: Array | float
    n_rows: Array | float
    sweeps: Array | int
    damping: Array | float
    trust: Array | float
    noise_rate: Array | float
    centre_rate: Array | float
    pasp_power: Array | float


def plan_of(network: Network, settings: Settings) -> Plan:
    """The static part of a run."""
    s = settings
    single = s.sweeps == 1
    return Plan(network, s.prior, s.pasp, s.noise_update, s.noise_every, s.batch_size, single, s.learn_base_var)


def knobs_of(settings: Settings, epoch: int, n_rows: float) -> Knobs:
    """The numbers of an epoch, counted from 0."""
    s = settings
    weight = s.data_weight_at(epoch)
    return Knobs(weight, n_rows, s.sweeps, s.damping, s.trust, s.noise_rate, s.centre_rate, s.pasp_power)


def init(network: Network, settings: Settings, key: Array, x: np.ndarray, y: np.ndarray) -> State:
    """Random means and a flat-as-it-may-be posterior, scaled to the data.

    Base variances make every z of the prior have variance one (the outputs: that of y). Means are `init_scale` times
    He's; identical means would never break the units' symmetry. The variance leaves the untrained outputs with
    noise-to-signal `init_noise`: each layer adds its share, so it is divided by the depth.
    """
    dtype = jnp.dtype(x.dtype)
    regression = network.task == "regression"
    y_var = np.atleast_1d(y.astype(np.float64).var(0)) if regression else np.ones(())
    y_var = np.where(y_var > 0, y_var, 1.0)
    x_mean = x.mean(0, dtype=np.float64)
    x_power = float(np.square(x.astype(np.float64, copy=False) - x_mean).sum(1).mean()) or 1.0
    layers = []
    for l, (n_in, n_out) in enumerate(zip(network.widths, network.widths[1:], strict=False)):
        key, sub = jax.random.split(key)
        last = l == network.n_layers - 1
        out_var = float(y_var.mean()) if last and regression else 1.0
        base_var = out_var / (x_power if l == 0 else n_in)
        spread = 2 * settings.init_scale**2 * base_var
        prec = jnp.full((n_in, n_out), network.n_layers / (settings.init_noise * spread), dtype)
        mean = jnp.sqrt(jnp.asarray(spread, dtype)) * jax.random.normal(sub, (n_in, n_out), dtype)
        bias_mean, bias_var = jnp.zeros(n_out, dtype), out_var
        if last and regression:
            bias_mean, bias_var = jnp.asarray(y.mean(0), dtype), float(np.square(y, dtype=np.float64).mean()) or 1.0
        bias_prec = jnp.full(n_out, network.n_layers / (settings.init_noise * out_var), dtype)
        layers.append(
            turbo.Layer(
                weight=Message(mean * prec, prec),
                bias=Message(bias_mean * bias_prec, bias_prec),
                centre=jnp.asarray(x_mean if l == 0 else np.zeros(n_in), dtype),
                offset=jnp.full(n_in, jnp.inf, dtype),
                bias_offset=jnp.full(n_out, jnp.inf, dtype),
                base_var=jnp.asarray(base_var, dtype),
                bias_base_var=jnp.asarray(bias_var, dtype),
                chain=burst.stationary(jnp.asarray(settings.init_active_prob, dtype)),
                active_prob=jnp.ones(n_in, dtype),
                sure=jnp.asarray(True),
            )
        )
    scale = jnp.asarray(y_var, dtype)
    return State(tuple(layers), settings.noise_init * scale, scale, tuple(layer.base_var for layer in layers))


def minibatch_step(
    plan: Plan, knobs: Knobs, group_of: Array | None, state: State, x: Array, y: Array, row_weight: Array
) -> tuple[State, mstep.NoiseStats, Info]:
    """Lines 5-20 of Algorithm 1: Modules B and A on one minibatch, then PasP (and the running noise)."""
    task = plan.network.task
    found = damp.infer(
        plan.network, plan.prior, group_of, state.layers, x, y, row_weight, state.noise_var,
        knobs.trust, knobs.sweeps, knobs.damping, plan.single,
    )  # fmt: skip
    power = knobs.pasp_power
    if plan.pasp == "anchored":
        power = pasp.anchored_power(knobs.data_weight, knobs.n_rows, row_weight.sum())
    layers = [
        layer._replace(
            weight=pasp.carry_over(combine(layer.weight, w_ext), layer.base_var, power, plan.pasp),
            bias=pasp.carry_over(combine(layer.bias, b_ext), layer.bias_base_var, power, plan.pasp),
        )
        for layer, w_ext, b_ext in zip(state.layers, found.exchange.w_ext, found.exchange.b_ext, strict=True)
    ]
    layers[1:] = [
        pasp.recentre(layer, drift, knobs.centre_rate)
        for layer, drift in zip(layers[1:], found.drift, strict=True)
    ]
    stats = mstep.noise_stats(task, plan.noise_update, found.z_post, y, row_weight, state.noise_var)
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if plan.noise_every == "minibatch":
        target = mstep.noise_target(task, plan.noise_update, stats, noise_var)
        rate = jnp.where(stats.weight > 0, knobs.noise_rate, 0)
        noise_var, noise_clips = mstep.running_noise(noise_var, target, rate, state.noise_scale)
    output = gaussian_output if task == "regression" else probit_output
    log_evidence = row_weight @ output.log_partition(found.z_fwd, y, state.noise_var)
    return (
        state._replace(layers=tuple(layers), noise_var=noise_var),
        stats,
        Info(found.clips, noise_clips, log_evidence),
    )


def e_step(
    plan: Plan, knobs: Knobs, group_of: Array | None, state: State, x: Array, y: Array, weight: Array,
    n_here: Array, key: Array,
) -> tuple[State, mstep.NoiseStats, Info]:  # fmt: skip
    """One pass over the first `n_here` rows in random order, as a scan over minibatches."""
    rows, size = x.shape[0], min(plan.batch_size, x.shape[0])
    steps = -(-rows // size)
    present = jnp.arange(steps * size) < n_here
    shuffled = jnp.argsort(jnp.where(present[:rows], jax.random.uniform(key, (rows,)), 2.0))
    order = jnp.concatenate([shuffled, jnp.zeros(steps * size - rows, shuffled.dtype)])

    def step(state: State, batch: tuple[Array, Array]) -> tuple[State, tuple[mstep.NoiseStats, Info]]:
        index, here = batch
        row_weight = weight[index] * here.astype(weight.dtype)
        state, stats, info = minibatch_step(plan, knobs, group_of, state, x[index], y[index], row_weight)
        return state, (stats, info)

    state, (stats, info) = jax.lax.scan(step, state, (order.reshape(steps, size), present.reshape(steps, size)))
    return state, *jax.tree.map(lambda a: a.sum(0), (stats, info))


def m_step(plan: Plan, group_of: Array | None, state: State, stats: mstep.NoiseStats) -> tuple[State, Array]:
    """Lines 21-23 of Algorithm 1: hyperparameters from the posterior, and the clips of the noise variance."""
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if plan.noise_every == "epoch":
        target = mstep.noise_target(plan.network.task, plan.noise_update, stats, noise_var)
        noise_var, noise_clips = mstep.damped_noise(plan.network.task, noise_var, target, state.noise_scale)
    layers = list(state.layers)
    for l, layer in enumerate(layers):
        groups = group_of if l == 0 else None
        if plan.learn_base_var:
            layer = mstep.learn_base_var(layer, state.base_var_start[l])
        if plan.prior == "burst":
            layer = mstep.learn_chain(layer, groups)
        layers[l] = turbo.look(layer, plan.prior, groups) if plan.prior != "gaussian" else layer
    return state._replace(layers=tuple(layers), noise_var=noise_var), noise_clips


def em_iteration(
    plan: Plan, knobs: Knobs, group_of: Array | None, state: State, x: Array, y: Array, weight: Array, key: Array
) -> tuple[State, Info]:
    """One turn of Algorithm 1's outer loop on data held in memory. Pure: jit it, vmap it over states and keys."""
    state, stats, info = e_step(plan, knobs, group_of, state, x, y, weight, x.shape[0], key)
    state, noise_clips = m_step(plan, group_of, state, stats)
    return state, info._replace(noise_clips=info.noise_clips + noise_clips)


_e_step = partial(jax.jit, static_argnums=0)(e_step)
_m_step = partial(jax.jit, static_argnums=0)(m_step)
