"""Module B: the exchange between the network and the sparse priors.

A layer's slab holds its prior; Module A's messages `w_ext`, `b_ext` tilt it, and the posterior log-odds of a group
are an offset plus the slab's evidence (factors/group_spike_slab). The marginals given back to Module A are therefore
the exact group posterior, messages of the other weights included.
Paper: eq. (B->A), (Wlnpost); errata E1, E2, E7. Oracle: enumeration.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ..factors.priors import burst, group, spike_slab
from ..numerics.beliefs import Message, Moments, thin, tilt

Prior = Literal["gaussian", "group", "burst"]

SURE_LOGIT = 30.0
"""A layer whose every group is at least this sure is taken as certain for an epoch: no evidence is summed."""


class Layer(NamedTuple):
    """Everything known about one layer: its posterior, which is the next minibatch's prior.

    `offset` is -inf for removed units, whose outgoing weights are known to be zero (mean = var = 0: no message moves
    them), and +inf for units that are not in question.
    """

    weight: Moments  # (units, outputs), the slabs
    bias: Moments  # (outputs,)
    centre: Array  # (units,), subtracted from the layer's input (data come centred, see feed.Feed)
    offset: Array  # (units,)
    bias_offset: Array  # (outputs,)
    base_var: Array  # (), slab variance of the base prior
    bias_base_var: Array  # ()
    chain: burst.Chain
    active_prob: Array  # (units,), as of the last look
    sure: Array  # (), bool: active_prob is certain, see SURE_LOGIT


def active_logit(layer: Layer, prior: Prior, group_of: Array | None, w_ext: Message | None = None) -> Array:
    """Posterior log-odds of every unit's group, (units,)."""
    slab = tilt(layer.weight, w_ext)
    logit = group.active_logit(layer.offset, slab, layer.base_var, group_of)
    return burst.posterior_logit(logit, layer.chain) if prior == "burst" else logit


def active_prob(layer: Layer, prior: Prior, group_of: Array | None, w_ext: Message | None) -> Array:
    """Posterior probability of every unit's group; the sum over the weights is skipped where it is certain."""
    return jax.lax.cond(
        layer.sure,
        lambda: layer.active_prob,
        lambda: jax.nn.sigmoid(active_logit(layer, prior, group_of, w_ext)),
    )


def marginals(
    layer: Layer, prior: Prior, group_of: Array | None, w_ext: Message | None, b_ext: Message | None
) -> tuple[Moments, Moments]:
    """w_post and b_post: what Module A is told about the layer's weights and biases."""
    weight, bias = tilt(layer.weight, w_ext), tilt(layer.bias, b_ext)
    if prior == "gaussian":  # nothing is in question: every group is on, or removed and known to be zero
        return weight, bias
    return thin(weight, active_prob(layer, prior, group_of, w_ext)[:, None]), _thin_bias(layer, bias)


def posterior(layer: Layer) -> tuple[Moments, Moments]:
    """w_post and b_post as of the last look: what predictions are made from."""
    return thin(layer.weight, layer.active_prob[:, None]), _thin_bias(layer, layer.bias)


def _thin_bias(layer: Layer, slab: Moments) -> Moments:
    return thin(slab, jax.nn.sigmoid(spike_slab.active_logit(layer.bias_offset, slab, layer.bias_base_var)))


def look(layer: Layer, prior: Prior, group_of: Array | None) -> Layer:
    """Refresh `active_prob` and `sure`, once an epoch."""
    logit = active_logit(layer, prior, group_of)
    return layer._replace(active_prob=jax.nn.sigmoid(logit), sure=jnp.all(jnp.abs(logit) > SURE_LOGIT))
