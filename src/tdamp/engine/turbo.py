"""Module B: the exchange between the network and the sparse priors.

A layer's slab holds its prior; Module A's messages `w_ext`, `b_ext` tilt it, and the posterior log-odds of a group
are an offset plus the slab's evidence (factors/priors). The marginals given back to Module A are therefore
the exact group posterior, messages of the other weights included.
Paper: eq. (B->A), (Wlnpost); errata E1, E2, E7. Oracle: enumeration.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ..factors.priors import spike_slab
from ..factors.priors.base import to_rows
from ..factors.priors.catalog import PRIORS
from ..numerics.beliefs import Message, Moments, thin, tilt

SURE_LOGIT = 30.0
"""A layer whose every group is at least this sure is taken as certain for an epoch: no evidence is summed."""


class Layer(NamedTuple):
    """Everything known about one layer: its posterior, which is the next minibatch's prior.

    `offset` is -inf for removed units, whose outgoing weights are known to be zero (mean = var = 0: no message moves
    them), and +inf for units that are not in question.
    """

    weight: Moments  # (rows, outputs), the slabs; a unit has a row for each tap or place (factors/priors/base)
    bias: Moments  # (outputs,)
    centre: Array  # (rows,), subtracted from the layer's input (flat data come centred, see training.batches)
    offset: Array  # (units,)
    bias_offset: Array  # (outputs,)
    base_var: Array  # (), slab variance of the base prior
    bias_base_var: Array  # ()
    active_prob: Array  # (units,), as of the last refresh
    sure: Array  # (), bool: active_prob is certain, see SURE_LOGIT
    prior_state: Any = ()  # of the prior alone: the burst prior's chain


def active_logit(layer: Layer, prior: str, group_of: Array | None, w_ext: Message | None = None) -> Array:
    """Posterior log-odds of every unit's group, (units,)."""
    slab = tilt(layer.weight, w_ext)
    return PRIORS[prior].active_logit(layer.offset, slab, layer.base_var, group_of, layer.prior_state)


def active_prob(layer: Layer, prior: str, group_of: Array | None, w_ext: Message | None) -> Array:
    """Posterior probability of every unit's group; the sum over the weights is skipped where it is certain."""
    return jax.lax.cond(
        layer.sure,
        lambda: layer.active_prob,
        lambda: jax.nn.sigmoid(active_logit(layer, prior, group_of, w_ext)),
    )


def marginals(
    layer: Layer, prior: str, group_of: Array | None, w_ext: Message | None, b_ext: Message | None
) -> tuple[Moments, Moments]:
    """w_post and b_post: what Module A is told about the layer's weights and biases."""
    weight, bias = tilt(layer.weight, w_ext), tilt(layer.bias, b_ext)
    if not PRIORS[prior].in_question:  # every group is on, or removed and known to be zero
        return weight, bias
    probs = to_rows(active_prob(layer, prior, group_of, w_ext), len(weight.mean))
    return thin(weight, probs[:, None]), _thin_bias(layer, bias)


def posterior(layer: Layer) -> tuple[Moments, Moments]:
    """w_post and b_post as of the last refresh: what predictions are made from."""
    return thin(layer.weight, row_probs(layer)[:, None]), _thin_bias(layer, layer.bias)


def row_probs(layer: Layer) -> Array:
    """`active_prob` of each row's unit, as of the last refresh."""
    return to_rows(layer.active_prob, len(layer.weight.mean))


def _thin_bias(layer: Layer, slab: Moments) -> Moments:
    return thin(slab, jax.nn.sigmoid(spike_slab.active_logit(layer.bias_offset, slab, layer.bias_base_var)))


def learn(layer: Layer, prior: str, group_of: Array | None) -> Layer:
    """The M-step of the prior's own state, then `refresh`; nothing where no group is in question."""
    member = PRIORS[prior]
    if not member.in_question:
        return layer
    state = member.learn(layer.offset, layer.weight, layer.base_var, group_of, layer.prior_state)
    return refresh(layer._replace(prior_state=state), prior, group_of)


def refresh(layer: Layer, prior: str, group_of: Array | None) -> Layer:
    """`active_prob` and `sure` anew, once an epoch."""
    logit = active_logit(layer, prior, group_of)
    return layer._replace(active_prob=jax.nn.sigmoid(logit), sure=jnp.all(jnp.abs(logit) > SURE_LOGIT))
