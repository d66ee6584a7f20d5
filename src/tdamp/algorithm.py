"""Algorithm 1 on one screen: init, minibatch_step, em_iteration, fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from . import damp, mstep, pasp, turbo
from .beliefs import Message, combine
from .factors import burst, gaussian_output, probit_output
from .network import Network


@dataclass(frozen=True)
class Settings:
    """How to run Algorithm 1."""

    batch_size: int = 100
    max_epochs: int = 20
    sweeps: int = 1
    damping: float = 0.3
    prior: turbo.Prior = "gaussian"
    pasp: pasp.Pasp = "anchored"
    data_weight: tuple[float, ...] = tuple(range(1, 21))
    noise_update: mstep.NoiseRule = "em"
    noise_every: str = "minibatch"
    noise_rate: float = 0.02
    noise_init: float = 1.0
    learn_base_var: bool = False
    init_mean: float = 0.2
    init_var: float = 0.1
    first_gain: float = 0.112
    bias_var: float = 1.0


class State(NamedTuple):
    layers: tuple[turbo.Layer, ...]
    noise_var: Array
    noise_scale: Array


class Static(NamedTuple):
    network: Network
    prior: str
    pasp: str
    noise_update: str
    noise_every: str
    batch_size: int
    single: bool
    learn_base_var: bool


class Info(NamedTuple):
    clips: damp.Clips
    noise_clips: Array
    log_evidence: Array


def init(network: Network, key: Array, x_power: float, y_var, settings: Settings, dtype=jnp.float32) -> State:
    layers = []
    widths = network.widths
    for l, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
        key, sub = jax.random.split(key)
        scale = settings.first_gain / x_power if l == 0 else 1.0 / n_in
        base = scale
        mean = settings.init_mean * jnp.sqrt(2 * scale) * jax.random.normal(sub, (n_in, n_out), dtype)
        prec = jnp.full((n_in, n_out), 1 / (settings.init_var * base), dtype)
        bprec = jnp.full((n_out,), 1 / (settings.init_var * settings.bias_var*1.0), dtype)
        layers.append(turbo.Layer(
            weight=Message(mean * prec, prec),
            bias=Message(jnp.zeros(n_out, dtype), bprec),
            offset=jnp.full(n_in, jnp.inf, dtype),
            bias_offset=jnp.full(n_out, jnp.inf, dtype),
            base_var=jnp.asarray(base, dtype),
            bias_base_var=jnp.asarray(settings.bias_var, dtype),
            chain=burst.Chain(jnp.zeros((), dtype), jnp.zeros((), dtype)),
            active_prob=jnp.ones(n_in, dtype),
            sure=jnp.asarray(True),
        ))
    scale = jnp.asarray(y_var, dtype) if network.task == "regression" else jnp.ones((), dtype)
    return State(tuple(layers), settings.noise_init * scale, scale)


def minibatch_step(static: Static, state: State, x, y, row_weight, group_of, data_weight, n_rows, sweeps, damping, noise_rate):
    found = damp.infer(static.network, static.prior, group_of, state.layers, x, y, row_weight, state.noise_var,
                       sweeps, damping, static.single)
    n_batch = row_weight.sum()
    power = pasp.anchored_power(data_weight, n_rows, n_batch) if static.pasp == "anchored" else data_weight
    layers = []
    for layer, w_ext, b_ext in zip(state.layers, found.exchange.w_ext, found.exchange.b_ext):
        layers.append(layer._replace(
            weight=pasp.carry_over(combine(layer.weight, w_ext), layer.base_var, power, static.pasp),
            bias=pasp.carry_over(combine(layer.bias, b_ext), layer.bias_base_var, power, static.pasp),
        ))
    stats = mstep.noise_stats(static.network.task, static.noise_update, found.z_post, y, row_weight, state.noise_var)
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if static.noise_every == "minibatch":
        target = mstep.noise_target(static.network.task, static.noise_update, stats, noise_var)
        noise_var, noise_clips = mstep.running_noise(noise_var, target, noise_rate, state.noise_scale)
    output = gaussian_output if static.network.task == "regression" else probit_output
    ev = output.log_partition(found.z_fwd, y, state.noise_var)
    ev = ev.sum(-1) if static.network.task == "regression" else ev
    info = Info(found.clips, noise_clips, (row_weight * ev).sum())
    return State(tuple(layers), noise_var, state.noise_scale), stats, info


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def em_iteration(static: Static, state: State, x, y, weight, key, group_of, data_weight, sweeps, damping, noise_rate):
    n = x.shape[0]
    b = min(static.batch_size, n)
    r = -(-n // b)
    order = jax.random.permutation(key, n)
    order = jnp.concatenate([order, jnp.zeros(r * b - n, order.dtype)]).reshape(r, b)
    present = (jnp.arange(r * b) < n).astype(x.dtype).reshape(r, b)

    def step(state, batch):
        rows, here = batch
        state, stats, info = minibatch_step(static, state, x[rows], y[rows], here * weight[rows], group_of, data_weight,
                                            n, sweeps, damping, noise_rate)
        return state, (stats, info)

    state, (stats, info) = jax.lax.scan(step, state, (order, present))
    stats, info = jax.tree.map(lambda a: a.sum(0), (stats, info))
    if static.noise_every == "epoch":
        target = mstep.noise_target(static.network.task, static.noise_update, stats, state.noise_var)
        noise_var, c = mstep.damped_noise(static.network.task, state.noise_var, target, state.noise_scale)
        state = state._replace(noise_var=noise_var)
    return state, info
