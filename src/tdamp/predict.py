"""Prediction: moments through the network, class probabilities by quadrature, the posterior-mean network."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from . import numerics
from .beliefs import Moments, known
from .damp import MIN_VAR, floor_var
from .factors import linear, piecewise
from .network import Network
from .turbo import Layer, posterior

NODES = 32
"""Gauss-Hermite nodes of the class probabilities."""


class Predictive(NamedTuple):
    """A regression's prediction; the variance of a new observation is the sum of the two."""

    mean: Array
    epistemic_var: Array
    aleatoric_var: Array


def output_moments(network: Network, layers: tuple[Layer, ...], x: Array) -> Moments:
    """Moments of z_L under the posterior: the epistemic part of the prediction."""
    regions = piecewise.ACTIVATIONS[network.activation]
    u = known(x)
    for l, layer in enumerate(layers):
        w_post, b_post = posterior(layer)
        u = Moments(u.mean - layer.centre, u.var)
        z_fwd, _ = floor_var(linear.forward(u, w_post, b_post, None))
        if l < network.n_layers - 1:
            u = piecewise.forward(regions, z_fwd)
    return z_fwd


def mean_network(network: Network, layers: tuple[Layer, ...], x: Array) -> Array:
    """Output of the network whose parameters are the posterior means, the paper's point estimate."""
    regions = piecewise.ACTIVATIONS[network.activation]
    u = x
    for l, layer in enumerate(layers):
        w_post, b_post = posterior(layer)
        u = (u - layer.centre) @ w_post.mean + b_post.mean
        if l < network.n_layers - 1:
            u = piecewise.apply(regions, u)
    return u


def log_class_probs(z: Moments, noise_var: Array) -> Array:
    """log P(y) = log P(the noisy score of y is the largest), (rows, classes), by Gauss-Hermite quadrature.

    P(y) = integral of N(t; z_y, V_y + noise/2) prod_(m != y) Phi((t - z_m) / sqrt(V_m + noise/2)) dt. The classes'
    probabilities sum to one by nature, and are normalised to do so in the last digits too. Oracle: quadrature.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    std = jnp.sqrt(jnp.maximum(z.var + 0.5 * noise_var, MIN_VAR))
    point = z.mean[..., None] + std[..., None] * jnp.asarray(nodes, z.mean.dtype)  # (rows, y, node)
    above_rival = (point[..., None, :] - z.mean[..., None, :, None]) / std[..., None, :, None]  # (rows, y, m, node)
    is_rival = 1 - jnp.eye(z.mean.shape[-1], dtype=z.mean.dtype)[..., None]
    log_mass = (is_rival * numerics.log_ndtr(above_rival)).sum(-2)
    log_weights = jnp.asarray(np.log(weights / weights.sum()), z.mean.dtype)
    return jax.nn.log_softmax(jax.nn.logsumexp(log_mass + log_weights, axis=-1), axis=-1)


def class_probs(z: Moments, noise_var: Array) -> Array:
    """P(y), the exponential of `log_class_probs`."""
    return jnp.exp(log_class_probs(z, noise_var))


def predictive(network: Network, layers: tuple[Layer, ...], noise_var: Array, x: Array) -> Predictive:
    """Predictive moments of a regression: epistemic variance from the weights, aleatoric from the noise."""
    z = output_moments(network, layers, x)
    return Predictive(z.mean, z.var, jnp.broadcast_to(noise_var, z.var.shape))
