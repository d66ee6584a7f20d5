"""What a prior of a layer's weights is, and the evidence of a group, which all of them share.

A group is one unit's outgoing weights, or those of several inputs (`group_of`). A unit has a row of the table W; where
it is read at several taps or places it has one for each, tap by tap, and within a tap the rows come unit by unit. A
group is on, with slab N(mean, var) for each weight, or off, with all weights zero. The slabs hold every message
received, so that the log-odds of a group are an `offset` plus the slabs' evidence against the base prior
(Savage-Dickey); the offset is -inf for removed units, +inf for units that are not in question. What a prior needs
beside that is its own state, a tree of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ...numerics.beliefs import Moments, log_norm

SUREST = 1e-6
"""No unit in question is surer than by this to be needed: evidence could never move it. One of probability 1 is not in
question."""


class Prior:
    """The prior of the support of a layer's groups. Subclasses are stateless; the state of a layer is handed to them.

    `in_question`: groups may be off. `takes_groups`: inputs may share a group. `pads`: units that carry no message may
    be put at the end of a layer without changing the others. `has_paper_rule`: groups come and go each by itself, in
    the model that the paper's rule of pruning is derived for.
    """

    name: ClassVar[str]
    in_question: ClassVar[bool] = True
    takes_groups: ClassVar[bool] = True
    pads: ClassVar[bool] = True
    has_paper_rule: ClassVar[bool] = False

    def start(self, active_prob: float, put: Callable[[float], Any]) -> Any:
        """The state of a layer before any data; `put` makes an array of a number."""
        return ()

    def start_logit(self, active_prob: float) -> float:
        """Log-odds at which units are put in question."""
        return prior_logit(active_prob)

    def active_logit(self, offset: Array, slab: Moments, base_var: Array, group_of: Array | None, state: Any) -> Array:
        """Posterior log-odds of each unit's group, (units,)."""
        return group_logit(offset, slab, base_var, group_of)

    def learn(self, offset: Array, slab: Moments, base_var: Array, group_of: Array | None, state: Any) -> Any:
        """The M-step: the next state."""
        return state


def prior_logit(prob: float) -> float:
    """Log-odds of a prior probability: at most those of 1 - SUREST, or infinite."""
    return math.inf if prob == 1 else math.log(prob) - math.log(max(1 - prob, SUREST))


def to_rows(per_unit: Any, n_rows: int) -> Any:
    """What each unit has, given to each of its rows, (n_rows,)."""
    copies = n_rows // max(len(per_unit), 1)
    if copies == 1:
        return per_unit
    return (np if isinstance(per_unit, np.ndarray) else jnp).tile(per_unit, copies)


def to_units(per_row: Any, n_units: int) -> Any:
    """The sum over each unit's rows, (n_units,)."""
    return per_row if len(per_row) == n_units else per_row.reshape(-1, n_units).sum(0)


def rows_of(units: np.ndarray, n_units: int, n_rows: int) -> np.ndarray:
    """The rows of some of `n_units` units, in the order of a table that has these units alone."""
    copies = n_rows // max(n_units, 1)
    return units if copies == 1 else (n_units * np.arange(copies)[:, None] + units).ravel()


def over_groups(per_unit: Array, group_of: Array | None) -> Array:
    """Sum of a per-unit quantity over the unit's group, given back to every unit of the group."""
    if group_of is None:
        return per_unit
    return jax.ops.segment_sum(per_unit, group_of, num_segments=per_unit.shape[0])[group_of]


def evidence(slab: Moments, base_var: Array, group_of: Array | None = None, present: Array | None = None) -> Array:
    """Evidence of each unit's group for being on, against base N(0, base_var) (Savage-Dickey), (units,).

    `slab` is a layer's weights (rows, outputs), with every message received. Units that are not `present` add
    nothing to their group; without it a unit has one row.
    """
    per_row = log_norm(slab).sum(-1) - 0.5 * slab.var.shape[-1] * jnp.log(base_var)
    per_unit = per_row if present is None else to_units(per_row, len(present))
    return over_groups(per_unit if present is None else jnp.where(present, per_unit, 0), group_of)


def group_logit(offset: Array, slab: Moments, base_var: Array, group_of: Array | None = None) -> Array:
    """`offset` plus the evidence of each unit's group, (units,)."""
    return offset + evidence(slab, base_var, group_of, offset > -jnp.inf)
