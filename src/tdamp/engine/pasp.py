"""PasP: the posterior becomes the next minibatch's prior.

`paper`: prior = posterior^power (Paper: eq. (PasP), power = 1). Every epoch counts the data again.
`anchored`: the same power, with the base prior N(0, base_var) making up the rest, so that at the fixed point each
datum counts `data_weight` times: prec = power prec + (1 - power) / base_var, shift = power shift. Log-odds
follow from the slabs by the same rule (factors/priors/base; erratum E10).
Oracle: the fixed point of a repeated message.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from ..numerics.beliefs import Moments, Score
from .damp import Inference
from .plan import Anchor, Knobs
from .settings import Pasp
from .turbo import Layer, row_probs

CENTRE_ROWS = 50
"""A centre is a mean of about so many rows at least, however small the minibatches: it must not run after single rows,
whose moves the next layers would hand on and make larger."""


def anchored_power(memory: Array | float, n_rows: Array | float, n_batch: Array) -> Array:
    """The share of the posterior that is kept after a minibatch of `n_batch` of `n_rows` rows.

    With R = n_rows / n_batch minibatches this is R k / (R k + 1); a short last batch forgets less.
    """
    return memory * n_rows / (memory * n_rows + n_batch)


def counting(pasp: Pasp, knobs: Knobs, row_weight: Array) -> tuple[Array | float, Array]:
    """The share of the posterior that is kept after a minibatch, and how often each of its rows counts."""
    if pasp == "paper":
        return knobs.pasp_power, row_weight
    power = anchored_power(knobs.memory, knobs.n_rows, row_weight.sum())
    return power, row_weight * (knobs.data_weight / knobs.memory)


def next_priors(
    layers: tuple[Layer, ...], inference: Inference, anchors: tuple[Anchor, ...], power: Array | float, pasp: Pasp
) -> tuple[Layer, ...]:
    """Every layer's posterior after a minibatch, carried over as the next one's prior."""
    anchors = tuple(anchor.at_centre_of(layer) for anchor, layer in zip(anchors, layers, strict=True))
    scores = zip(layers, inference.w_score, inference.b_score, anchors, strict=True)
    return tuple(
        layer._replace(
            weight=carry_over(layer.weight, w_score, anchor.weight, power, pasp),
            bias=carry_over(layer.bias, b_score, anchor.bias, power, pasp),
        )
        for layer, w_score, b_score, anchor in scores
    )


def carry_over(prior: Moments, message: Score, anchor: Moments, power: Array | float, pasp: Pasp) -> Moments:
    """The next prior: (prior x message)^power x anchor^(1 - power), in two passes over the weights.

    `message` is exp(score (w - mean) - prec (w - mean)^2 / 2) about the prior's mean. The anchor is the base
    prior; a client of a federation may be anchored to what the others know instead.
    """
    rest = (1 - power) / anchor.var if pasp == "anchored" else 0.0
    var = 1 / (power * (1 / prior.var + message.prec) + rest)
    return Moments(prior.mean + var * (power * message.score - rest * (prior.mean - anchor.mean)), var)


def recentre(layer: Layer, drift: Array, rate: Array | float) -> Layer:
    """Follow the mean of a layer's input, so that z = mix(u - centre, W) + b keeps W and b apart.

    Only the coordinates change: the bias takes over what the moved centre takes away. Means of the same sign (ReLU
    outputs) would otherwise make every row of a batch pull the same way.
    """
    move = rate * drift * row_probs(layer)
    bias = layer.bias._replace(mean=layer.bias.mean + move @ layer.weight.mean)
    return layer._replace(centre=layer.centre + move, bias=bias)


def recentre_hidden(
    layers: tuple[Layer, ...], drift: tuple[Array, ...], centre_rate: Array | float, row_weight: Array
) -> tuple[Layer, ...]:
    """`recentre` of every hidden layer, `drift` being the means of their inputs."""
    rate = jnp.minimum(centre_rate, row_weight.sum() / CENTRE_ROWS)
    return layers[0], *(recentre(layer, move, rate) for layer, move in zip(layers[1:], drift, strict=True))
