"""`algorithm.em_iteration` on data in memory, compiled: one segment, arrays in, state and info out."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax

from tdamp.algorithm import em_iteration
from tdamp.engine.info import Info
from tdamp.engine.plan import Segment
from tdamp.engine.state import State


def whole_epoch(plan: Any, knobs: Any, group_of: Any, state: State, *data: Any) -> tuple[State, Info]:
    """`data` are x, y, weight, order and present."""
    state, _, info = em_iteration(plan, knobs, group_of, state, [Segment(*data)])
    return state, info


em_step = partial(jax.jit, static_argnums=0)(whole_epoch)
