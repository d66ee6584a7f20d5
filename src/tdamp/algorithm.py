"""Algorithm 1 on one screen: minibatch_step, e_step, m_step, em_iteration. These are the functions that training runs.

E-step: over the minibatches, Module B gives Module A the weights' marginals (turbo), Module A passes messages forward
and backward (damp), and the posterior becomes the next prior (pasp). M-step: noise, base variance, the prior's state
(mstep, turbo). Everything is pure; `training` compiles the two steps, feeds the data, and removes units in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .engine import damp, mstep, pasp, turbo
from .engine.info import Info, add, no_info
from .engine.plan import Anchor, Knobs, Minibatch, Plan, Segment, base_prior
from .engine.state import State
from .factors.likelihoods.base import NoiseStats

Groups = Array | None
Anchors = tuple[Anchor, ...] | None
Step = tuple[State, NoiseStats, Info]


def minibatch_step(
    plan: Plan, knobs: Knobs, group_of: Groups, state: State, batch: Minibatch, anchors: Anchors = None
) -> Step:
    """Lines 5-22 of Algorithm 1: Modules B and A on one minibatch, then PasP (and the running noise)."""
    output = plan.network.output
    power, counted = pasp.counting(plan.pasp, knobs, batch.weight)
    inference = damp.infer(plan, knobs, group_of, state.layers, batch._replace(weight=counted), state.noise_var)
    layers = pasp.next_priors(state.layers, inference, anchors or base_prior(state), power, plan.pasp)
    layers = pasp.recentre_hidden(layers, inference.drift, knobs.centre_rate, batch.weight)
    stats = output.noise_stats(plan.noise_update, inference.z_post, batch.y, batch.weight, state.noise_var)
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if plan.noise_every == "minibatch":
        noise_var, noise_clips = mstep.running_noise(plan, knobs, state, stats, inference.z_post, batch)
    log_evidence = jnp.sum(batch.weight @ output.log_partition(inference.z_fwd, batch.y, state.noise_var))
    return state._replace(layers=layers, noise_var=noise_var), stats, Info(inference.clips, noise_clips, log_evidence)


def e_step(plan: Plan, knobs: Knobs, group_of: Groups, state: State, segment: Segment, anchors: Anchors = None) -> Step:
    """Minibatch after minibatch in the segment's order, as one loop; it ends where no rows are left.

    Places without a row do nothing. How many minibatches there are is found at run time, so that tables of different
    lengths share a compilation.
    """
    x, y, weight, order, present = segment

    def body(i: Array, done: Step) -> Step:
        state, *sums = done
        index = order[i]
        centre = state.layers[0].centre if plan.network.is_flat else jnp.zeros((), x.dtype)
        rows = damp.drop_inputs(knobs, centre, x[index], index[0]) if plan.drops_inputs else x[index]
        batch = Minibatch(rows, y[index], weight[index] * present[i].astype(weight.dtype))
        state, *more = minibatch_step(plan, knobs, group_of, state, batch, anchors)
        return state, *add(tuple(sums), tuple(more))

    steps = jnp.sum(present.any(-1), dtype=jnp.int32)
    nothing = mstep.no_stats(plan.network, plan.noise_update, x.dtype), no_info(x.dtype)
    return jax.lax.fori_loop(0, steps, body, (state, *nothing))


def m_step(plan: Plan, group_of: Groups, state: State, stats: NoiseStats) -> tuple[State, Array]:
    """Lines 24-26 of Algorithm 1: hyperparameters from the posterior, and the clips of the noise variance."""
    noise_var, noise_clips = state.noise_var, jnp.zeros((), jnp.int32)
    if plan.noise_every == "epoch":
        noise_var, noise_clips = mstep.damped_noise(plan, state, stats)
    layers = mstep.learn_base_vars(state) if plan.learn_base_var else state.layers
    learned = (turbo.learn(layer, plan.prior, group_of if l == 0 else None) for l, layer in enumerate(layers))
    return state._replace(layers=tuple(learned), noise_var=noise_var), noise_clips


class Steps(NamedTuple):
    """The two steps as `em_iteration` runs them: pure, or compiled."""

    e_step: Callable[[Plan, Knobs, Groups, State, Segment, Anchors], Step] = e_step
    m_step: Callable[[Plan, Groups, State, NoiseStats], tuple[State, Array]] = m_step


PURE = Steps()


def em_iteration(
    plan: Plan, knobs: Knobs, group_of: Groups, state: State, segments: Iterable[Segment], anchors: Anchors = None,
    steps: Steps = PURE, after: Callable[[State], State] | None = None,
) -> Step:  # fmt: skip
    """One turn of Algorithm 1's outer loop, an epoch: the E-step segment by segment, then the M-step.

    `after` may change the state after each segment: units are removed there.
    """
    totals: list[Any] = []
    for segment in segments:
        state, *sums = steps.e_step(plan, knobs, group_of, state, segment, anchors)
        totals = [add(totals[0], sums) if totals else sums]
        state = state if after is None else after(state)
    [(stats, info)] = totals
    state, noise_clips = steps.m_step(plan, group_of, state, stats)
    return state, stats, info._replace(noise_clips=info.noise_clips + noise_clips)
