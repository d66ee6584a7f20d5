"""The burst-sparse prior: the units of a layer are on in runs, a Markov chain over their support.

Density: p(s_1) prod_n p(s_(n+1) | s_n) prod_n p(w_n | s_n), with p01 = p(on | off), p10 = p(off | on) and the
chain started from its stationary law. Paper: named in Section II, derivation omitted; ours is in the docs.
Exact forward-backward in log domain. Oracle: enumeration of all supports.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, log1p
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Moments
from .base import Prior, group_logit

MAX_EVIDENCE = 1e4
"""Unary evidence is clipped here: beyond it a unit's state is certain and only float range is at stake."""


class Chain(NamedTuple):
    """Log-odds of switching: `on_logit` of p01 (off -> on), `off_logit` of p10 (on -> off)."""

    on_logit: Array
    off_logit: Array


class BurstPrior(Prior):
    """Runs of units are on or off; the state of a layer is its chain."""

    name = "burst"
    takes_groups = False
    pads = False

    def start(self, active_prob: float, put: Callable[[float], Any]) -> Chain:
        """The chain whose stationary law is `active_prob`."""
        return Chain(*map(put, stationary(active_prob)))

    def start_logit(self, active_prob: float) -> float:
        """The chain itself holds the prior probability."""
        return 0.0

    def active_logit(self, offset: Array, slab: Moments, base_var: Array, group_of: Array | None, state: Any) -> Array:
        """Forward-backward over the units' own evidence."""
        return posterior_logit(group_logit(offset, slab, base_var, group_of), state)

    def learn(self, offset: Array, slab: Moments, base_var: Array, group_of: Array | None, state: Any) -> Chain:
        """The M-step of the transition probabilities."""
        return learn(transition_counts(group_logit(offset, slab, base_var, group_of), state))


def _log_transitions(chain: Chain) -> Array:
    """log p(next | now) as a (now, next) matrix, state 0 = off."""
    rows = [[-chain.on_logit, chain.on_logit], [chain.off_logit, -chain.off_logit]]
    return jax.nn.log_sigmoid(jnp.array(rows))


def _log_start(chain: Chain) -> Array:
    """The stationary law: on with probability p01 / (p01 + p10)."""
    on, off = jax.nn.log_sigmoid(chain.on_logit), jax.nn.log_sigmoid(chain.off_logit)
    return jnp.array([off, on]) - jnp.logaddexp(on, off)


def _messages(unary: Array, chain: Chain) -> tuple[Array, Array, Array]:
    """Emissions, forward (predictive) and backward log-messages, each (units, 2) and normalised."""
    transitions = _log_transitions(chain)
    unary = jnp.clip(unary, -MAX_EVIDENCE, MAX_EVIDENCE)
    emit = jax.nn.log_sigmoid(jnp.stack([-unary, unary], -1))

    def normalise(m: Array) -> Array:
        return m - jax.nn.logsumexp(m)

    def ahead(m: Array, e: Array) -> tuple[Array, Array]:
        return normalise(jax.nn.logsumexp((m + e)[:, None] + transitions, axis=0)), m

    def back(m: Array, e: Array) -> tuple[Array, Array]:
        return normalise(jax.nn.logsumexp(transitions + (m + e)[None, :], axis=1)), m

    _, forward = jax.lax.scan(ahead, _log_start(chain), emit)
    _, backward = jax.lax.scan(back, jnp.zeros(2, unary.dtype), emit, reverse=True)
    return emit, forward, backward


def extrinsic_logit(unary: Array, chain: Chain) -> Array:
    """Log-odds each unit gets from the chain and every other unit's evidence `unary`, (units,)."""
    _, forward, backward = _messages(unary, chain)
    total = forward + backward
    return total[:, 1] - total[:, 0]


def posterior_logit(unary: Array, chain: Chain) -> Array:
    """Posterior log-odds of every unit; infinite evidence (removed or fixed units) stays infinite."""
    return unary + extrinsic_logit(unary, chain)


def transition_counts(unary: Array, chain: Chain) -> Array:
    """Expected number of transitions now -> next, (2, 2): the sufficient statistic of the M-step."""
    emit, forward, backward = _messages(unary, chain)
    now = (forward + emit)[:-1, :, None]
    later = (backward + emit)[1:, None, :]
    pair = now + _log_transitions(chain) + later
    return jnp.exp(pair - jax.nn.logsumexp(pair, axis=(1, 2), keepdims=True)).sum(0)


def learn(counts: Array, pseudo_count: float = 1.0) -> Chain:
    """M-step: the chain that makes the expected transitions most likely.

    One pseudo-count per transition keeps both probabilities inside (0, 1).
    """
    counts = counts + pseudo_count
    return Chain(jnp.log(counts[0, 1]) - jnp.log(counts[0, 0]), jnp.log(counts[1, 0]) - jnp.log(counts[1, 1]))


def stationary(active_prob: float, mean_run: float = 4.0) -> tuple[float, float]:
    """The numbers of the chain whose units are on with this probability, in runs of mean length `mean_run`."""
    off = 1 / mean_run
    on = min(max(off * active_prob / max(1 - active_prob, 1e-3), 1e-3), 1 - 1e-3)
    return log(on) - log1p(-on), log(off) - log1p(-off)
