"""An epoch of Algorithm 1 on data that may come in chunks: compiled steps, and the segments they run on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax import Array
from jax.sharding import Mesh

from ..algorithm import Groups, Step, Steps, e_step, em_iteration, m_step
from ..engine.info import Clips, Info
from ..engine.mstep import no_stats
from ..engine.plan import Anchor, Knobs, Plan, Segment
from ..engine.state import State
from ..factors.likelihoods.base import NoiseStats
from .batches import Feed, shuffle
from .compiled import Program
from .devices import back, on_each, split

_SUMS = NoiseStats(0, 0), Info(Clips(0, 0, 0, 0, 0), 0, 0)  # type: ignore[arg-type]  # only their structure matters
_e_step = Program(e_step, like=lambda plan, knobs, group_of, state, *data: (state, *_SUMS))
_m_step = Program(m_step, like=lambda plan, group_of, state, stats: (state, 0))

AfterSegment = Callable[[State, float], State]


class Epoch:
    """What an epoch is run with: its data in random order, in how many parts, and what to do between them.

    The epoch is cut into `parts` (into minibatches, if they are fewer), and `after(state, share)` may change the state
    after each, `share` of the epoch being over. `tick(share)` is called after every chunk. A chunk is read while the
    one before is worked on, and none before that is done: two are in memory. The feed's devices, if several, share
    every minibatch; the state that comes and goes is on this process's own one.
    """

    def __init__(
        self, feed: Feed, rng: np.random.Generator, parts: int = 1, after: AfterSegment | None = None,
        tick: Callable[[float], None] | None = None,
    ) -> None:  # fmt: skip
        self.feed, self.rng, self.parts, self.after, self.tick = feed, rng, parts, after, tick
        self.share = 0.0
        self.sums: Any = None  # of the last segment

    def run(
        self, plan: Plan, knobs: Knobs, group_of: Groups | np.ndarray, state: State,
        anchors: tuple[Anchor, ...] | None = None,
    ) -> Step:  # fmt: skip
        """`algorithm.em_iteration` over the data, compiled; the statistics come back to the host."""
        knobs, groups, anchors = on_each(self.feed.mesh, (_typed(knobs, self.feed), group_of, anchors))
        steps = Steps(lambda *args: self._e_step(*args), lambda plan, _, *rest: _m_step(plan, group_of, *rest))
        state, stats, info = em_iteration(plan, knobs, groups, state, self._segments(plan), anchors, steps, self._after)
        return state, *jax.device_get((stats, info))

    def _segments(self, plan: Plan) -> Iterator[Segment]:
        n_chunks, before = self.feed.n_chunks, None
        for i, (x, y, weight, n_here) in enumerate(self.feed.chunks(self.rng)):
            order, present = shuffle(self.rng, len(x), n_here, plan.batch_size)
            count = min(self.parts, len(order))
            for j, (some, there) in enumerate(segments(order, present, count)):
                self.share = (i + (j + 1) / count) / n_chunks
                yield Segment(x, y, weight, *split(self.feed.mesh, some, there))
            jax.block_until_ready(before)
            before = self.sums
            if self.tick is not None:
                self.tick((i + 1) / n_chunks)

    def _e_step(self, plan: Plan, knobs: Knobs, groups: Any, state: State, segment: Segment, anchors: Any) -> Step:
        mesh: Mesh | None = self.feed.mesh
        state, *self.sums = back(mesh, _e_step(plan, knobs, groups, on_each(mesh, state), segment, anchors))
        return state, *self.sums

    def _after(self, state: State) -> State:
        return state if self.after is None else self.after(state, self.share)


def prepare(
    plan: Plan, knobs: Knobs, group_of: Array | np.ndarray | None, state: State, feed: Feed, parts: int
) -> None:
    """Compile what an epoch will run on a state and groups like these; the feed may have other columns."""
    x, y, weight = feed.shapes(len(plan.network.columns(np.arange(plan.network.widths[0]))))
    order, present = shuffle(np.random.default_rng(0), x.shape[0], 0, plan.batch_size)
    some, there = next(segments(order, present, min(parts, len(order))))
    stats = jax.eval_shape(lambda: no_stats(plan.network, plan.noise_update, x.dtype))
    knobs, groups, placed = on_each(feed.mesh, (_typed(knobs, feed), group_of, state))
    segment = Segment(x, y, weight, *split(feed.mesh, some, there))  # type: ignore[arg-type]
    _e_step.prepare(plan, knobs, groups, placed, segment, None)
    _m_step.prepare(plan, group_of, state, stats)


def _typed(knobs: Knobs, feed: Feed) -> Knobs:
    """The numbers as arrays: whole numbers stay whole, the others have the data's precision."""
    dtype = feed.data.x.dtype
    return jax.tree.map(lambda a: np.asarray(a, dtype if isinstance(a, float) else int), knobs)


def segments(order: np.ndarray, present: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """An epoch's minibatches in `count` parts of one length; the last is filled up with places that hold no row."""
    length = -(-len(order) // count)
    fill = ((0, count * length - len(order)), (0, 0))
    order, present = np.pad(order, fill), np.pad(present, fill)
    for i in range(count):
        yield order[i * length : (i + 1) * length], present[i * length : (i + 1) * length]
