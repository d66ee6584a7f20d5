"""An epoch of Algorithm 1 on data that may come in chunks: compiled programs, and the sums that they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import numpy as np
from jax import Array

from ..algorithm import Anchor, Info, Knobs, Plan, e_step, m_step
from ..engine.damp import Clips
from ..engine.mstep import NoiseStats, no_stats
from ..engine.state import State
from .batches import Feed, shuffle
from .compiled import Program
from .devices import back, on_each, split

_SUMS = NoiseStats(0, 0), Info(Clips(0, 0, 0, 0, 0), 0, 0)  # type: ignore[arg-type]  # only their structure matters
_e_step = Program(e_step, like=lambda plan, knobs, group_of, state, *data: (state, *_SUMS))
_m_step = Program(m_step, like=lambda plan, group_of, state, stats: (state, 0))

Between = Callable[[State, float], State]


def em_iteration(
    plan: Plan,
    knobs: Knobs,
    group_of: Array | np.ndarray | None,
    state: State,
    feed: Feed,
    rng: np.random.Generator,
    anchors: tuple[Anchor, ...] | None = None,
    parts: int = 1,
    between: Between | None = None,
    tick: Callable[[float], None] | None = None,
) -> tuple[State, NoiseStats, Info]:
    """`algorithm.em_iteration` over the feed, with the epoch's statistics.

    The epoch is cut into `parts` (into minibatches, if they are fewer), and `between(state, share)` may change the
    state after each, `share` of the epoch being over. `tick(share)` is called after every chunk. A chunk is read while
    the one before is worked on, and none before that is done: two are in memory. The feed's devices, if several, share
    every minibatch; the state that comes and goes is on this process's own one.
    """
    knobs, groups, anchors = on_each(feed.mesh, (_typed(knobs, feed), group_of, anchors))
    found, before = [], None
    for i, (x, y, weight, n_here) in enumerate(feed.chunks(rng)):
        order, present = shuffle(rng, len(x), n_here, plan.batch_size)
        count = min(parts, len(order))
        for j, (some, there) in enumerate(segments(order, present, count)):
            here = on_each(feed.mesh, state), x, y, weight, *split(feed.mesh, some, there)
            state, *sums = back(feed.mesh, _e_step(plan, knobs, groups, *here, anchors))
            found.append(sums)
            if between is not None:
                state = between(state, (i + (j + 1) / count) / feed.n_chunks)
        jax.block_until_ready(before)
        before = sums
        if tick is not None:
            tick((i + 1) / feed.n_chunks)
    stats, info = jax.tree.map(lambda *terms: sum(terms), *jax.device_get(found))
    state, noise_clips = _m_step(plan, group_of, state, stats)
    return state, stats, info._replace(noise_clips=info.noise_clips + np.asarray(noise_clips))


def prepare(
    plan: Plan, knobs: Knobs, group_of: Array | np.ndarray | None, state: State, feed: Feed, parts: int
) -> None:
    """Compile what `em_iteration` will run on a state and groups like these; the feed may have other columns."""
    x, y, weight = feed.shapes(plan.network.widths[0])
    order, present = shuffle(np.random.default_rng(0), x.shape[0], 0, plan.batch_size)
    some, there = next(segments(order, present, min(parts, len(order))))
    stats = jax.eval_shape(lambda: no_stats(plan.network, plan.noise_update, x.dtype))
    knobs, groups, placed = on_each(feed.mesh, (_typed(knobs, feed), group_of, state))
    _e_step.prepare(plan, knobs, groups, placed, x, y, weight, *split(feed.mesh, some, there), None)
    _m_step.prepare(plan, group_of, state, stats)


def _typed(knobs: Knobs, feed: Feed) -> Knobs:
    """As arrays: whole numbers stay whole, the others have the data's precision."""
    dtype = feed.data.x.dtype
    return jax.tree.map(lambda a: np.asarray(a, dtype if isinstance(a, float) else int), knobs)


def segments(order: np.ndarray, present: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """An epoch's minibatches in `count` parts of one length; the last is filled up with places that hold no row."""
    length = -(-len(order) // count)
    fill = ((0, count * length - len(order)), (0, 0))
    order, present = np.pad(order, fill), np.pad(present, fill)
    for i in range(count):
        yield order[i * length : (i + 1) * length], present[i * length : (i + 1) * length]
