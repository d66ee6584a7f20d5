"""PasP: the posterior becomes the next minibatch's prior.

`paper`: prior = posterior^power (Paper: eq. (PasP), power = 1). Every epoch counts the data again.
`anchored`: the same power, with the base prior N(0, base_var) making up the rest, so that at the fixed point each
datum counts `data_weight` times: prec = power prec + (1 - power) / base_var, shift = power shift. Log-odds
follow from the slabs by the same rule (factors/group_spike_slab; erratum E10).
Oracle: the fixed point of a repeated message.
"""

from __future__ import annotations

from typing import Literal

from jax import Array

from ..factors.layers.dense import Score
from ..numerics.beliefs import Moments
from .turbo import Layer

Pasp = Literal["anchored", "paper"]


CENTRE_ROWS = 50
"""A centre is a mean of about so many rows at least, however small the minibatches: it must not run after single rows,
whose moves the next layers would hand on and make larger."""


def anchored_power(memory: Array | float, n_rows: Array | float, n_batch: Array) -> Array:
    """The share of the posterior that is kept after a minibatch of `n_batch` of `n_rows` rows.

    With R = n_rows / n_batch minibatches this is R k / (R k + 1); a short last batch forgets less.
    """
    return memory * n_rows / (memory * n_rows + n_batch)


def carry_over(prior: Moments, said: Score, anchor: Moments, power: Array | float, pasp: Pasp) -> Moments:
    """The next prior: (prior x what a minibatch `said`)^power x anchor^(1 - power), in two passes over the weights.

    `said` is a message exp(score (w - mean) - prec (w - mean)^2 / 2) about the prior's mean. The anchor is the base
    prior; a client of a federation may be anchored to what the others know instead.
    """
    rest = (1 - power) / anchor.var if pasp == "anchored" else 0.0
    var = 1 / (power * (1 / prior.var + said.prec) + rest)
    return Moments(prior.mean + var * (power * said.score - rest * (prior.mean - anchor.mean)), var)


def recentre(layer: Layer, drift: Array, rate: Array | float) -> Layer:
    """Follow the mean of a hidden layer's input, so that z = (u - centre) W + b keeps W and b apart.

    Only the coordinates change: the bias takes over what the moved centre takes away. Means of the same sign (ReLU
    outputs) would otherwise make every row of a batch pull the same way.
    """
    move = rate * drift * layer.active_prob
    bias = layer.bias._replace(mean=layer.bias.mean + move @ layer.weight.mean)
    return layer._replace(centre=layer.centre + move, bias=bias)
