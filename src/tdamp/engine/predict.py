"""Prediction: moments through the network, class probabilities by quadrature, the posterior-mean network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from ..factors.activations import piecewise
from ..factors.activations.catalog import ACTIVATIONS
from ..factors.layers import maps
from ..factors.layers.dense import DENSE
from ..factors.likelihoods.catalog import LIKELIHOODS
from ..numerics.beliefs import Moments, known
from ..numerics.distribution import Distribution
from .damp import floor_var, plus
from .layout import Place
from .network import Network
from .turbo import Layer, posterior


def output_moments(network: Network, layers: tuple[Layer, ...], x: Array) -> Moments:
    """Moments of z_L under the posterior, the epistemic part of the prediction: of all outputs, logs of a varying noise
    included."""
    regions = ACTIVATIONS[network.activation].regions
    values = [known(network.enter(x))]
    for place, layer in zip(network.places, layers, strict=True):
        w_post, b_post = posterior(layer)
        u = place.linear.from_centre(maps.forward(place.maps, values[-1])[-1], layer.centre)
        z_fwd = place.linear.forward(u, w_post, b_post, None)
        if place.skip is not None:
            z_fwd = plus(z_fwd, maps.forward(place.skip_maps, values[place.skip])[-1])
        z_fwd, _ = floor_var(z_fwd)
        if len(values) < network.n_layers:
            values.append(piecewise.forward(regions, z_fwd))
    return z_fwd


def mean_network(network: Network, layers: tuple[Layer, ...], x: Array) -> Array:
    """Targets, class scores or logs of rates of the network whose parameters are the posterior means, the paper's point
    estimate."""
    return mean_outputs(network, layers, x)[..., : network.n_targets]


def mean_outputs(network: Network, layers: tuple[Layer, ...], x: Array) -> Array:
    """All its outputs, logs of a varying noise included."""
    first, *rest = mean_layers(network, layers)
    return plain_outputs(network.activation, first(network.enter(x)), rest, network.places)


def mean_layers(network: Network, layers: tuple[Layer, ...]) -> list[Affine]:
    """The layers of the posterior-mean network."""
    pairs = zip(network.places, layers, map(posterior, layers), strict=True)
    return [Affine(w_post.mean, b_post.mean, layer.centre, place) for place, layer, (w_post, b_post) in pairs]


class Affine(NamedTuple):
    """A layer of plain numbers, NumPy's or JAX's: z = mix(u - centre, W) + b."""

    weight: Any
    bias: Any
    centre: Any = None
    place: Place = Place(DENSE)

    def __call__(self, value: Any) -> Any:
        """z of the rows of the value that it reads."""
        return self.of(self.inputs(value))

    def inputs(self, value: Any) -> Any:
        """Its inputs: the value after the maps, from its centres."""
        u = maps.through(self.place.maps, value)
        return u if self.centre is None else self.place.linear.centred(u, self.centre)

    def of(self, u: Any) -> Any:
        """z of these inputs."""
        return self.place.linear.mix(u, self.weight) + self.bias


def plain_outputs(activation: str, z: Any, layers: Iterable[Any], places: Sequence[Place] | None = None) -> Any:
    """Outputs of a network of plain numbers whose first layer has given z; `layers`, functions of values, follow it.

    The one forward pass without beliefs: of posterior means, of samples, and of networks without an input. `places` are
    those of all layers of the network; None: none of them has a skip.
    """
    regions = ACTIVATIONS[activation].regions
    values: list[Any] = [None]
    for l, layer in enumerate(layers, 1):
        values.append(piecewise.apply(regions, z))
        z = layer(values[-1])
        if places is not None and (skip := places[l].skip) is not None:
            z = z + maps.through(places[l].skip_maps, values[skip])
    return z


def log_class_probs(z: Moments, noise_var: Array) -> Array:
    """log P(y) = log P(the noisy score of y is the largest), (rows, classes): scores N(z_y, V_y + noise / 2).

    Of the likelihood "probit", the classifier's own.
    """
    return LIKELIHOODS["probit"].log_probs(z, noise_var)


def class_probs(z: Moments, noise_var: Array) -> Array:
    """P(y), the exponential of `log_class_probs`."""
    return jnp.exp(log_class_probs(z, noise_var))


def predictive(network: Network, layers: tuple[Layer, ...], noise_var: Array, x: Array) -> Distribution:
    """Predictive distribution of the targets: its epistemic part comes from the weights, its aleatoric from the noise.

    Where the noise varies, its variance is the mean of noise_var exp(h), h being the second half of the outputs.
    """
    return network.output.predictive(output_moments(network, layers, x), noise_var)


def predicted_log_probs(network: Network, layers: tuple[Layer, ...], x: Array, noise_var: Array) -> Array:
    """Log class probabilities of rows under the posterior, (rows, classes)."""
    return network.output.log_probs(output_moments(network, layers, x), noise_var)


def mean_log_probs(network: Network, layers: tuple[Layer, ...], x: Array, noise_var: Array) -> Array:
    """Log class probabilities of rows by the posterior-mean network, (rows, classes)."""
    z = mean_outputs(network, layers, x)
    return network.output.log_probs(Moments(z, jnp.zeros_like(z)), noise_var)
