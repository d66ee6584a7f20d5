"""Algorithm 1 on one screen: minibatch_step, e_step, m_step, em_iteration.

E-step: over the minibatches, Module B tells Module A the weights' marginals (turbo), Module A passes messages forward
and backward (damp), and the posterior becomes the next prior (pasp). M-step: noise, base variance, chain (mstep).
Everything here is a pure function; training.fit runs it epoch by epoch and removes units in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .engine import damp, mstep, pasp, turbo
from .engine.network import Network
from .engine.settings import Settings
from .engine.state import State
from .numerics.beliefs import Moments


class Info(NamedTuple):
    """What a plot needs, summed over an epoch."""

    clips: damp.Clips
    noise_clips: Array
    log_evidence: Array  # of each row before it was learned from


def no_info(dtype: Any) -> Info:
    """Nothing counted yet."""
    return Info(damp.no_clips(), jnp.zeros((), jnp.int32), jnp.zeros((), dtype))


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
    drops_inputs: bool


class Knobs(NamedTuple):
    """The numbers that may change from epoch to epoch without compiling anew."""

    data_weight: Array | float
    memory: Array | float
    n_rows: Array | float
    sweeps: Array | int
    damping: Array | float
    trust: Array | float
    noise_rate: Array | float
    centre_rate: Array | float
    pasp_power: Array | float
    input_dropout: Array | float
    epoch: Array | int


def plan_of(network: Network, settings: Settings) -> Plan:
    """The static part of a run."""
    s = settings
    single = s.sweeps == 1
    rules = s.prior, s.pasp, s.noise_update, s.noise_every
    return Plan(network, *rules, s.batch_size, single, s.learn_base_var, s.input_dropout > 0)


def knobs_of(settings: Settings, epoch: int, n_rows: float) -> Knobs:
    """The numbers of an epoch, counted from 0."""
    s = settings
    data_weight, memory = s.data_weight_at(epoch), s.memory_at(epoch)
    rates = s.damping, s.trust, s.noise_rate, s.centre_rate, s.pasp_power, s.input_dropout
    return Knobs(data_weight, memory, n_rows, s.sweeps, *rates, epoch)


class Anchor(NamedTuple):
    """What anchored PasP falls back to in one layer. Biases belong to `centre`; None: whatever the centre is."""

    weight: Moments
    bias: Moments
    centre: Array | None = None

    def here(self, layer: turbo.Layer) -> Anchor:
        """With the biases that belong to the layer's own centre."""
        if self.centre is None:
            return self
        moved = self.bias.mean + (layer.centre - self.centre) @ layer.weight.mean
        return Anchor(self.weight, Moments(moved, self.bias.var), layer.centre)


def base_prior(state: State) -> tuple[Anchor, ...]:
    """The anchors of a training on its own."""
    zero = jnp.zeros((), state.noise_var.dtype)
    return tuple(Anchor(Moments(zero, layer.base_var), Moments(zero, layer.bias_base_var)) for layer in state.layers)


def minibatch_step(
    plan: Plan, knobs: Knobs, group_of: Array | None, state: State, x: Array, y: Array, row_weight: Array,
    anchors: tuple[Anchor, ...] | None = None,
) -> tuple[State, mstep.NoiseStats, Info]:  # fmt: skip
    """Lines 5-22 of Algorithm 1: Modules B and A on one minibatch, then PasP (and the running noise)."""
    task = plan.network.task
    power: Array | float = knobs.pasp_power
    counted = row_weight
    if plan.pasp == "anchored":
        power = pasp.anchored_power(knobs.memory, knobs.n_rows, row_weight.sum())
        counted = row_weight * (knobs.data_weight / knobs.memory)
    found = damp.infer(
        plan.network, plan.prior, group_of, state.layers, x, y, counted, state.noise_var,
        knobs.trust, knobs.sweeps, knobs.damping, plan.single,
    )  # fmt: skip
    anchors = base_prior(state) if anchors is None else anchors
    anchors = tuple(anchor.here(layer) for anchor, layer in zip(anchors, state.layers, strict=True))
    layers = [
        layer._replace(
            weight=pasp.carry_over(layer.weight, w_said, anchor.weight, power, plan.pasp),
            bias=pasp.carry_over(layer.bias, b_said, anchor.bias, power, plan.pasp),
        )
        for layer, w_said, b_said, anchor in zip(state.layers, found.w_said, found.b_said, anchors, strict=True)
    ]
    rate = jnp.minimum(knobs.centre_rate, row_weight.sum() / pasp.CENTRE_ROWS)
    layers[1:] = [pasp.recentre(layer, drift, rate) for layer, drift in zip(layers[1:], found.drift, strict=True)]
    stats = mstep.noise_stats(task, plan.noise_update, found.z_post, y, row_weight, state.noise_var)
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if plan.noise_every == "minibatch":
        target = mstep.noise_target(task, plan.noise_update, stats, noise_var)
        target = target * jnp.exp(mstep.log_bias(task, plan.noise_update, found.z_post, y, row_weight))
        rate = mstep.noise_step(knobs.noise_rate, row_weight, knobs.n_rows)
        noise_var, noise_clips = mstep.running_noise(noise_var, target, rate, state.noise_scale)
    log_evidence = jnp.sum(row_weight @ damp.output_of(plan.network).log_partition(found.z_fwd, y, state.noise_var))
    return (
        state._replace(layers=tuple(layers), noise_var=noise_var),
        stats,
        Info(found.clips, noise_clips, log_evidence),
    )


def drop_inputs(knobs: Knobs, state: State, x: Array, minibatch: Array) -> Array:
    """Each input of each row set to zero with probability `input_dropout`, the others made larger to keep the mean.

    The rows are centred, and zero is that of the data. What is dropped follows from the epoch and the minibatch.
    """
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), knobs.epoch), minibatch)
    keep, centre = 1 - knobs.input_dropout, state.layers[0].centre
    return jnp.where(jax.random.bernoulli(key, keep, x.shape), (x + centre) / keep, 0) - centre


def e_step(
    plan: Plan, knobs: Knobs, group_of: Array | None, state: State, x: Array, y: Array, weight: Array,
    order: Array, present: Array, anchors: tuple[Anchor, ...] | None = None,
) -> tuple[State, mstep.NoiseStats, Info]:  # fmt: skip
    """Minibatch after minibatch in the given order (feed.shuffle), as one loop; it ends where no rows are left.

    Places without a row do nothing. The rows of `x` are centred: the first layer's centre has been taken off. How
    many minibatches there are is found at run time, so that tables of different lengths share a compilation.
    """

    def body(i: Array, done: tuple[State, mstep.NoiseStats, Info]) -> tuple[State, mstep.NoiseStats, Info]:
        state, *sums = done
        index = order[i]
        row_weight = weight[index] * present[i].astype(weight.dtype)
        rows = drop_inputs(knobs, state, x[index], index[0]) if plan.drops_inputs else x[index]
        state, *more = minibatch_step(plan, knobs, group_of, state, rows, y[index], row_weight, anchors)
        return state, *jax.tree.map(jnp.add, tuple(sums), tuple(more))

    steps = jnp.sum(present.any(-1), dtype=jnp.int32)
    nothing = mstep.no_stats(plan.network, plan.noise_update, x.dtype), no_info(x.dtype)
    return jax.lax.fori_loop(0, steps, body, (state, *nothing))


def m_step(plan: Plan, group_of: Array | None, state: State, stats: mstep.NoiseStats) -> tuple[State, Array]:
    """Lines 24-26 of Algorithm 1: hyperparameters from the posterior, and the clips of the noise variance."""
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if plan.noise_every == "epoch":
        target = mstep.noise_target(plan.network.task, plan.noise_update, stats, noise_var)
        noise_var, noise_clips = mstep.damped_noise(plan.network.task, noise_var, target, state.noise_scale)
    layers = list(state.layers)
    for l, layer in enumerate(layers):
        groups = group_of if l == 0 else None
        if plan.learn_base_var:
            heard = state.layers[l + 1].offset > -jnp.inf if l + 1 < len(layers) else None
            layer = mstep.learn_base_var(layer, state.base_var_start[l], heard)
        if plan.prior == "burst":
            layer = mstep.learn_chain(layer, groups)
        layers[l] = turbo.look(layer, plan.prior, groups) if plan.prior != "gaussian" else layer
    return state._replace(layers=tuple(layers), noise_var=noise_var), noise_clips


def em_iteration(
    plan: Plan, knobs: Knobs, group_of: Array | None, state: State, x: Array, y: Array, weight: Array,
    order: Array, present: Array,
) -> tuple[State, Info]:  # fmt: skip
    """One turn of Algorithm 1's outer loop on data held in memory. Pure: jit it, vmap it over states and orders."""
    state, stats, info = e_step(plan, knobs, group_of, state, x, y, weight, order, present)
    state, noise_clips = m_step(plan, group_of, state, stats)
    return state, info._replace(noise_clips=info.noise_clips + noise_clips)
