"""The group spike-slab prior: all weights of a group are on together or off together.

Density: prod_g [ rho_g prod_(j in g) N(w_j; mean_j, var_j) + (1 - rho_g) prod_(j in g) delta(w_j) ].
Paper: eq. (B->A), (Wlnpost); errata E1, E2. Exact, in log-odds (a product of 128 ratios underflows float64).
Oracle: enumeration of all supports.
"""

from __future__ import annotations

from jax import Array

from ...numerics.beliefs import Message, Moments, gain
from .base import Prior, over_groups


class GroupPrior(Prior):
    """Groups are on or off, each by itself."""

    name = "group"
    has_paper_rule = True


def extrinsic_logit(prior_logit: Array, prior: Moments, w_ext: Message, group_of: Array | None = None) -> Array:
    """w_prior: the log-odds Module B sends each weight, made of every *other* weight's message.

    The weight's own gain put back gives `active_logit` of the product, so Module A's marginals are
    the group's posterior and the engine never needs these messages one by one.
    """
    gains = gain(prior, w_ext)
    return (prior_logit + over_groups(gains.sum(-1), group_of))[:, None] - gains
