"""What a training is run with: the static plan, the numbers of an epoch, the anchors, and the data of a step."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from ..factors.likelihoods.base import NoiseRule
from ..numerics.beliefs import Moments
from .network import Network
from .settings import Pasp, Settings
from .state import State
from .turbo import Layer


class Minibatch(NamedTuple):
    """Rows of a minibatch, centred; a row of weight zero does nothing."""

    x: Array
    y: Array
    weight: Array


class Segment(NamedTuple):
    """A table, and the order in which its rows come: minibatches of places, and which of them hold a row.

    The rows of `x` are centred: the first layer's centre has been taken off.
    """

    x: Array
    y: Array
    weight: Array
    order: Array  # (minibatches, size)
    present: Array  # (minibatches, size), bool


class Plan(NamedTuple):
    """The static part of the settings: a change of it compiles anew."""

    network: Network
    prior: str
    pasp: Pasp
    noise_update: NoiseRule
    noise_every: str
    batch_size: int
    single: bool
    learn_base_var: bool
    drops_inputs: bool


class Knobs(NamedTuple):
    """The numbers that may change from epoch to epoch without compiling anew."""

    data_weight: Array | float
    memory: Array | float
    n_rows: Array | float
    sweeps: Array | int
    damping: Array | float
    trust: Array | float
    noise_rate: Array | float
    centre_rate: Array | float
    pasp_power: Array | float
    input_dropout: Array | float
    epoch: Array | int


def plan_of(network: Network, settings: Settings) -> Plan:
    """The static part of a run."""
    s = settings
    single = s.sweeps == 1
    rules = s.prior, s.pasp, s.noise_update, s.noise_every
    return Plan(network, *rules, s.batch_size, single, s.learn_base_var, s.input_dropout > 0)


def knobs_of(settings: Settings, epoch: int, n_rows: float) -> Knobs:
    """The numbers of an epoch, counted from 0."""
    s = settings
    data_weight, memory = s.data_weight_at(epoch), s.memory_at(epoch)
    rates = s.damping, s.trust, s.noise_rate, s.centre_rate, s.pasp_power, s.input_dropout
    return Knobs(data_weight, memory, n_rows, s.sweeps, *rates, epoch)


class Anchor(NamedTuple):
    """What anchored PasP falls back to in one layer. Biases belong to `centre`; None: whatever the centre is."""

    weight: Moments
    bias: Moments
    centre: Array | None = None

    def at_centre_of(self, layer: Layer) -> Anchor:
        """The anchor with the biases that belong to the layer's own centre."""
        if self.centre is None:
            return self
        moved = self.bias.mean + (layer.centre - self.centre) @ layer.weight.mean
        return Anchor(self.weight, Moments(moved, self.bias.var), layer.centre)


def base_prior(state: State) -> tuple[Anchor, ...]:
    """The anchors of a training on its own."""
    zero = jnp.zeros((), state.noise_var.dtype)
    return tuple(Anchor(Moments(zero, layer.base_var), Moments(zero, layer.bias_base_var)) for layer in state.layers)
