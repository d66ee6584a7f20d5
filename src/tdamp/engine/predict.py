"""Prediction: moments through the network, class probabilities by quadrature, the posterior-mean network."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from ..factors.activations import piecewise
from ..factors.layers import dense
from ..factors.likelihoods.base import Predictive
from ..factors.likelihoods.probit import Probit
from ..numerics.beliefs import Moments, known
from .damp import floor_var
from .network import Network
from .turbo import Layer, posterior

PROBIT = Probit()


def output_moments(network: Network, layers: tuple[Layer, ...], x: Array) -> Moments:
    """Moments of z_L under the posterior, the epistemic part of the prediction: of all outputs, logs of a varying noise
    included."""
    regions = piecewise.ACTIVATIONS[network.activation]
    u = known(x)
    for l, layer in enumerate(layers):
        w_post, b_post = posterior(layer)
        u = Moments(u.mean - layer.centre, u.var)
        z_fwd, _ = floor_var(dense.forward(u, w_post, b_post, None))
        if l < network.n_layers - 1:
            u = piecewise.forward(regions, z_fwd)
    return z_fwd


def mean_network(network: Network, layers: tuple[Layer, ...], x: Array) -> Array:
    """Targets or class scores of the network whose parameters are the posterior means, the paper's point estimate."""
    return mean_outputs(network, layers, x)[..., : network.n_targets]


def mean_outputs(network: Network, layers: tuple[Layer, ...], x: Array) -> Array:
    """All its outputs, logs of a varying noise included."""
    regions = piecewise.ACTIVATIONS[network.activation]
    u = x
    for l, layer in enumerate(layers):
        w_post, b_post = posterior(layer)
        u = (u - layer.centre) @ w_post.mean + b_post.mean
        if l < network.n_layers - 1:
            u = piecewise.apply(regions, u)
    return u


def log_class_probs(z: Moments, noise_var: Array) -> Array:
    """log P(y) = log P(the noisy score of y is the largest), (rows, classes): scores N(z_y, V_y + noise / 2)."""
    return PROBIT.log_probs(z, noise_var)


def class_probs(z: Moments, noise_var: Array) -> Array:
    """P(y), the exponential of `log_class_probs`."""
    return jnp.exp(log_class_probs(z, noise_var))


def predictive(network: Network, layers: tuple[Layer, ...], noise_var: Array, x: Array) -> Predictive:
    """Predictive moments of a regression's targets: epistemic variance from the weights, aleatoric from the noise.

    Where the noise varies, its variance is the mean of noise_var exp(h), h being the second half of the outputs.
    """
    return network.output.predictive(output_moments(network, layers, x), noise_var)


def predicted_log_probs(network: Network, layers: tuple[Layer, ...], x: Array, noise_var: Array) -> Array:
    """Log class probabilities of rows under the posterior, (rows, classes)."""
    return log_class_probs(output_moments(network, layers, x), noise_var)


def mean_log_probs(network: Network, layers: tuple[Layer, ...], x: Array, noise_var: Array) -> Array:
    """Log class probabilities of rows by the posterior-mean network, (rows, classes)."""
    z = mean_outputs(network, layers, x)
    return log_class_probs(Moments(z, jnp.zeros_like(z)), noise_var)
