"""The group spike-slab prior: all weights of a group are on together or off together.

Density: prod_g [ rho_g prod_(j in g) N(w_j; mean_j, var_j) + (1 - rho_g) prod_(j in g) delta(w_j) ].
Paper: eq. (B->A), (Wlnpost); errata E1, E2. Exact, in log-odds (a product of 128 ratios underflows float64).
A group is one unit's outgoing weights, a row of W, or the rows of several inputs (`group_of`).
Oracle: enumeration of all supports.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from ...numerics.beliefs import Message, Moments, gain, log_norm


def over_groups(per_unit: Array, group_of: Array | None) -> Array:
    """Sum of a per-unit quantity over the unit's group, given back to every unit of the group."""
    if group_of is None:
        return per_unit
    return jax.ops.segment_sum(per_unit, group_of, num_segments=per_unit.shape[0])[group_of]


def evidence(slab: Moments, base_var: Array, group_of: Array | None = None, present: Array | None = None) -> Array:
    """Evidence of each unit's group for being on, against base N(0, base_var) (Savage-Dickey), (units,).

    `slab` is a layer's weights (units, outputs), with every message received. Units that are not `present` add
    nothing to their group.
    """
    per_unit = log_norm(slab).sum(-1) - 0.5 * slab.var.shape[-1] * jnp.log(base_var)
    return over_groups(per_unit if present is None else jnp.where(present, per_unit, 0), group_of)


def active_logit(offset: Array, slab: Moments, base_var: Array, group_of: Array | None = None) -> Array:
    """Posterior log-odds of each unit's group, (units,): `offset` plus the evidence."""
    return offset + evidence(slab, base_var, group_of, offset > -jnp.inf)


def extrinsic_logit(prior_logit: Array, prior: Moments, w_ext: Message, group_of: Array | None = None) -> Array:
    """w_prior: the log-odds Module B sends each weight, made of every *other* weight's message.

    The weight's own gain put back gives `active_logit` of the product, so Module A's marginals are
    the group's posterior and the engine never needs these messages one by one.
    """
    gains = gain(prior, w_ext)
    return (prior_logit + over_groups(gains.sum(-1), group_of))[:, None] - gains
