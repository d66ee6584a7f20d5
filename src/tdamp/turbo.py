"""Module B: the exchange between the network and the sparse priors.

A layer's slab holds its prior in natural parameters; Module A's messages `w_ext`, `b_ext` are added to it, and
the posterior log-odds of a group are an offset plus the slab's evidence (factors/group_spike_slab). The marginals
given back to Module A are therefore the exact group posterior, messages of the other weights included.
Paper: eq. (B->A), (Wlnpost); errata E1, E2, E7. Oracle: enumeration.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from .beliefs import Message, Moments, combine, moments, thin
from .factors import burst, group_spike_slab, spike_slab

Prior = Literal["gaussian", "group", "burst"]

SURE_LOGIT = 30.0
"""A layer whose every group is at least this sure is taken as certain for an epoch: no evidence is summed."""


class Layer(NamedTuple):
    """Everything known about one layer: its posterior, which is the next minibatch's prior.

    `offset` is -inf for removed units and +inf for units that are not in question.
    """

    weight: Message  # (units, outputs), the slabs
    bias: Message  # (outputs,)
    centre: Array  # (units,), subtracted from the layer's input
    offset: Array  # (units,)
    bias_offset: Array  # (outputs,)
    base_var: Array  # (), slab variance of the base prior
    bias_base_var: Array  # ()
    chain: burst.Chain
    active_prob: Array  # (units,), as of the last look
    sure: Array  # (), bool: active_prob is certain, see SURE_LOGIT


def active_logit(layer: Layer, prior: Prior, group_of: Array | None, w_ext: Message | None = None) -> Array:
    """Posterior log-odds of every unit's group, (units,)."""
    slab = combine(layer.weight, w_ext)
    logit = group_spike_slab.active_logit(layer.offset, slab, layer.base_var, group_of)
    return burst.posterior_logit(logit, layer.chain) if prior == "burst" else logit


def active_prob(layer: Layer, prior: Prior, group_of: Array | None, w_ext: Message | None) -> Array:
    """Posterior probability of every unit's group; the sum over the weights is skipped where it is certain."""
    if prior == "gaussian":
        return layer.active_prob
    return jax.lax.cond(
        layer.sure,
        lambda: layer.active_prob,
        lambda: jax.nn.sigmoid(active_logit(layer, prior, group_of, w_ext)),
    )


def marginals(
    layer: Layer, prior: Prior, group_of: Array | None, w_ext: Message | None, b_ext: Message | None
) -> tuple[Moments, Moments]:
    """w_post and b_post: what Module A is told about the layer's weights and biases."""
    on = active_prob(layer, prior, group_of, w_ext)
    w_slab = moments(combine(layer.weight, w_ext))
    if prior == "gaussian":  # every group is on or removed: nothing to mix
        w_post = Moments(on[:, None] * w_slab.mean, on[:, None] * w_slab.var)
    else:
        w_post = thin(w_slab, on[:, None])
    return w_post, _bias(layer, b_ext)


def posterior(layer: Layer) -> tuple[Moments, Moments]:
    """w_post and b_post as of the last look: what predictions are made from."""
    return thin(moments(layer.weight), layer.active_prob[:, None]), _bias(layer, None)


def _bias(layer: Layer, b_ext: Message | None) -> Moments:
    slab = combine(layer.bias, b_ext)
    return thin(moments(slab), jax.nn.sigmoid(spike_slab.active_logit(layer.bias_offset, slab, layer.bias_base_var)))


def look(layer: Layer, prior: Prior, group_of: Array | None) -> Layer:
    """Refresh `active_prob` and `sure`, once an epoch."""
    logit = active_logit(layer, prior, group_of)
    return layer._replace(active_prob=jax.nn.sigmoid(logit), sure=jnp.all(jnp.abs(logit) > SURE_LOGIT))
