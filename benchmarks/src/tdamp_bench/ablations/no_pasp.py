"""Without PasP: nothing learned is handed from minibatch to minibatch. What is left is one of three things.

`Whole`: all rows are one batch, swept again and again; messages go on from epoch to epoch, the prior stays.
`Alone`: every minibatch starts from the first prior; the epoch's posterior is that of its last one.
`Averaged`: the same, and the epoch's posterior is the geometric mean of all its minibatches' posteriors.
The noise variance is learned throughout. The first prior is the random start: identical means would never part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from tdamp.algorithm import minibatch_step
from tdamp.engine import damp, pasp
from tdamp.engine.mstep import no_stats
from tdamp.engine.plan import Knobs, Minibatch, Plan, base_prior
from tdamp.engine.state import State
from tdamp.engine.turbo import Layer
from tdamp.factors.likelihoods.base import NoiseStats
from tdamp.numerics.beliefs import Message, Moments, moments, natural

from .loop import Arm

Beliefs = tuple[tuple[Moments, Moments], ...]
"""Weights and biases of every layer."""


def _beliefs(state: State) -> Beliefs:
    return tuple((layer.weight, layer.bias) for layer in state.layers)


def _with(state: State, beliefs: Beliefs) -> State:
    pairs = zip(state.layers, beliefs, strict=True)
    return state._replace(layers=tuple(layer._replace(weight=w, bias=b) for layer, (w, b) in pairs))


class Minibatches(Arm):
    """`Alone` or `Averaged`. The settings must have pasp="paper", which is prior times message, and centre_rate 0."""

    def __init__(self, averaged: bool) -> None:
        self.averaged = averaged
        self.first: Beliefs = ()

    def start(self, state: State) -> State:
        """Remember the first prior."""
        self.first = _beliefs(state)
        return state

    def e_step(self, plan: Plan, knobs: Knobs, state: State, *batches: Any) -> tuple[State, NoiseStats]:
        """Every minibatch from the first prior."""
        return _without_pasp(plan, self.averaged, knobs, _with(state, self.first), batches)


@partial(jax.jit, static_argnums=(0, 1))
def _without_pasp(
    plan: Plan, averaged: bool, knobs: Knobs, prior: State, batches: tuple[Array, ...]
) -> tuple[State, NoiseStats]:
    x, y, weight, order, present = batches
    steps = present.any(-1).sum(dtype="int32")
    nothing = jax.tree.map(jnp.zeros_like, _naturals(_beliefs(prior)))

    def body(i: Array, done: tuple[State, NoiseStats, Any]) -> tuple[State, NoiseStats, Any]:
        last, sums, total = done
        here = prior._replace(noise_var=last.noise_var)
        row_weight = weight[order[i]] * present[i].astype(weight.dtype)
        last, stats, _ = minibatch_step(plan, knobs, None, here, Minibatch(x[order[i]], y[order[i]], row_weight))
        if averaged:
            total = jax.tree.map(lambda a, b: a + b / steps, total, _naturals(_beliefs(last)))
        return last, jax.tree.map(jnp.add, sums, stats), total

    none_yet = no_stats(plan.network, plan.noise_update, x.dtype)
    last, stats, total = jax.lax.fori_loop(0, steps, body, (prior, none_yet, nothing))
    return (_with(last, _moments(total)) if averaged else last), stats


def _naturals(beliefs: Beliefs) -> Any:
    return tuple((natural(w), natural(b)) for w, b in beliefs)


def _moments(messages: Any) -> Beliefs:
    return tuple((moments(Message(*w)), moments(Message(*b))) for w, b in messages)


class Whole(Arm):
    """All rows as one batch: an epoch is `sweeps` sweeps, which go on from the messages of the epoch before."""

    def __init__(self) -> None:
        self.first: tuple[Layer, ...] = ()
        self.exchange: damp.Exchange | None = None

    def start(self, state: State) -> State:
        """Remember the first prior."""
        self.first = state.layers
        return state

    def e_step(self, plan: Plan, knobs: Knobs, state: State, *batches: Any) -> tuple[State, NoiseStats]:
        """Sweeps over all rows, each from the messages of the last."""
        x, y, weight = batches[:3]
        for _ in range(int(knobs.sweeps)):
            state, stats, self.exchange = _sweep(plan, knobs, self.first, state, self.exchange, x, y, weight)
        return state, stats


@partial(jax.jit, static_argnums=0)
def _sweep(
    plan: Plan, knobs: Knobs, first: tuple[Layer, ...], state: State, last: damp.Exchange | None,
    x: Array, y: Array, weight: Array,
) -> tuple[State, NoiseStats, damp.Exchange]:  # fmt: skip
    """One sweep; the posterior is the first prior times the messages. Rows count as often as the settings say."""
    damping = 0.0 if last is None else knobs.damping
    batch = Minibatch(x, y, knobs.data_weight * weight)
    sweep = damp.sweep(plan, None, first, batch, state.noise_var, knobs.trust, last, damping)
    layers = tuple(
        layer._replace(
            weight=pasp.carry_over(layer.weight, w_score, anchor.weight, 1.0, "paper"),
            bias=pasp.carry_over(layer.bias, b_score, anchor.bias, 1.0, "paper"),
        )
        for layer, w_score, b_score, anchor in zip(first, sweep.w_score, sweep.b_score, base_prior(state), strict=True)
    )
    stats = plan.network.output.noise_stats(plan.noise_update, sweep.z_post, y, weight, state.noise_var)
    return state._replace(layers=layers), stats, sweep.exchange
