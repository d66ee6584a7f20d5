"""Algorithm 1 as a bare loop over the engine's pure functions, in which an arm may change a line.

Without a change it is `training.fit`, but for the compaction of arrays. Oracle: that one, as a twin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import Array

from tdamp.algorithm import m_step, minibatch_step
from tdamp.engine import prune
from tdamp.engine.mstep import no_stats
from tdamp.engine.network import Network
from tdamp.engine.plan import Knobs, Minibatch, Plan, knobs_of, plan_of
from tdamp.engine.predict import mean_network
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, evidence, init, is_finite, question, remove
from tdamp.factors.likelihoods.base import NoiseStats
from tdamp.factors.priors.base import prior_logit
from tdamp.training.batches import Feed, shuffle
from tdamp.training.data import check_data
from tdamp.training.epoch import segments
from tdamp.training.fitted import active_units
from tdamp.training.outcome import Outcome
from tdamp.training.sparsity import SEGMENTS

from ..core.jobs import Job, Run, loss_of


def unchanged(state: State) -> State:
    """What most arms do."""
    return state


class Arm:
    """What an arm may change; as it stands, nothing."""

    between: Callable[[State], State] = staticmethod(unchanged)
    """After every minibatch; compiled, once for each function."""

    def start(self, state: State) -> State:
        """Before the first epoch."""
        return state

    def begin(self, state: State) -> State:
        """Before every epoch."""
        return state

    def end(self, state: State) -> State:
        """After every epoch's M-step."""
        return state

    def e_step(self, plan: Plan, knobs: Knobs, state: State, *batches: Any) -> tuple[State, NoiseStats]:
        """The minibatches one after the other; `batches` are x, y, weight, order and present of `algorithm.e_step`."""
        return _e_step(plan, self.between, knobs, state, *batches)

    def n_units(self, state: State) -> int:
        """Units that are left."""
        return sum(int(mask.sum()) for mask in active_units(state))


@partial(jax.jit, static_argnums=(0, 1))
def _e_step(
    plan: Plan, between: Callable[[State], State], knobs: Knobs, state: State, *batches: Any
) -> tuple[State, NoiseStats]:
    """`algorithm.e_step` with a word of the arm after every minibatch."""
    x, y, weight, order, present = batches

    def body(i: Array, done: tuple[State, NoiseStats]) -> tuple[State, NoiseStats]:
        state, sums = done
        row_weight = weight[order[i]] * present[i].astype(weight.dtype)
        state, stats, _ = minibatch_step(plan, knobs, None, state, Minibatch(x[order[i]], y[order[i]], row_weight))
        return between(state), jax.tree.map(jax.numpy.add, sums, stats)

    steps = present.any(-1).sum(dtype="int32")
    return jax.lax.fori_loop(0, steps, body, (state, no_stats(plan.network, plan.noise_update, x.dtype)))


_m_step = partial(jax.jit, static_argnums=0)(m_step)
_point = partial(jax.jit, static_argnums=0)(mean_network)


def train(job: Job, widths: tuple[int, ...], settings: Settings, arm: Arm) -> Run:
    """Train for all epochs; from the epoch on at which a training goes wrong, losses are infinite."""
    problem, s = job.problem, settings
    network = Network(widths, problem.task, "relu")
    data = check_data(network, problem.x, problem.y, None)
    plan = plan_of(network, s)
    state = init(network, s, np.random.default_rng(job.seed), data.x, data.y, data.weight)
    feed = Feed(data, np.arange(widths[0]), np.asarray(state.layers[0].centre), None)
    if s.prior != "gaussian" and s.pruning == "paper":
        state = question(state, prior_logit(s.init_active_prob), None, from_here=True)
    state = arm.start(state)
    loss, noise, units, note = [math.inf] * s.max_epochs, [math.inf] * s.max_epochs, arm.n_units(state), ""
    for epoch in range(s.max_epochs):
        knobs = knobs_of(s, epoch, float(len(data.x)))
        knobs = jax.tree.map(lambda a: np.asarray(a, data.x.dtype if isinstance(a, float) else int), knobs)
        rng = np.random.default_rng((job.seed, epoch))
        x, y, weight, n_rows = next(feed.chunks(rng))
        state = arm.begin(state)
        sums = []
        batches = shuffle(rng, len(x), n_rows, s.batch_size)
        parts = min(SEGMENTS, len(batches[0])) if s.prunes else 1
        for part, (order, present) in enumerate(segments(*batches, parts), start=1):
            state, stats = arm.e_step(plan, knobs, state, x, y, weight, order, present)
            sums.append(stats)
            state = _prune(s, network, state, epoch + part / parts)
        total = jax.tree.map(lambda *terms: sum(terms), *jax.device_get(sums))
        state, _ = _m_step(plan, None, state, total)
        if s.prior != "gaussian" and s.pruning == "exact" and epoch + 1 == s.warm_up:
            state = question(state, prior_logit(s.init_active_prob), None, from_here=False)
        state = arm.end(state)
        if not is_finite(state):
            note = str(Outcome.DIVERGED)
            break
        state = _restart(s, network, state)
        loss[epoch] = loss_of(np.asarray(_point(network, state.layers, problem.x_test)), problem)
        noise[epoch], units = float(state.noise_var.mean()), arm.n_units(state)
    return Run(loss, units, {"noise_var": noise}, note)


def _prune(settings: Settings, network: Network, state: State, epochs_done: float) -> State:
    """The exact rule, as far as its schedule has come."""
    share = prune.progress(settings, epochs_done) if settings.prunes and settings.pruning == "exact" else 0.0
    if share == 0:
        return state
    active = active_units(state)
    masks = prune.exact(settings, network, active, evidence(state, None), None, share)
    changed = any((old != new).any() for old, new in zip(active, masks, strict=True))
    return remove(state, masks) if changed else state


def _restart(settings: Settings, network: Network, state: State) -> State:
    """The paper's rule after an epoch."""
    if not settings.prunes or settings.pruning != "paper":
        return state
    probs = [np.asarray(layer.active_prob) for layer in state.layers]
    masks, acted = prune.paper(settings, network, active_units(state), probs)
    if not acted:
        return state
    odds = prior_logit(settings.init_active_prob)
    return question(remove(state, masks), odds, None, from_here=True, biases=False)
