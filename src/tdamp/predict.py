"""Prediction: moments through the network, class probabilities by quadrature, the posterior-mean network."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from . import numerics
from .beliefs import Moments, flat, known
from .damp import floor_var
from .factors import linear, piecewise
from .network import Network
from .turbo import Layer, marginals


def output_moments(network: Network, layers: tuple[Layer, ...], x: Array) -> Moments:
    """Moments of z_L under the posterior: the epistemic part of the prediction."""
    regions = piecewise.ACTIVATIONS[network.activation]
    u = known(x)
    for l, layer in enumerate(layers):
        w_post, b_post = marginals(layer, "gaussian", None, None, None)
        u = Moments(u.mean - layer.centre, u.var)
        z_fwd, _ = floor_var(linear.forward(u, w_post, b_post, None))
        if l < network.n_layers - 1:
            u = piecewise.activate(regions, z_fwd, flat(z_fwd.mean.shape, z_fwd.mean.dtype)).u_post
    return z_fwd


def mean_network(network: Network, layers: tuple[Layer, ...], x: Array) -> Array:
    """Output of the network whose parameters are the posterior means, the paper's point estimate."""
    regions = piecewise.ACTIVATIONS[network.activation]
    u = x
    for l, layer in enumerate(layers):
        w_post, b_post = marginals(layer, "gaussian", None, None, None)
        u = (u - layer.centre) @ w_post.mean + b_post.mean
        if l < network.n_layers - 1:
            u = piecewise.apply(regions, u)
    return u


def class_probs(z: Moments, noise_var: Array, nodes: int = 32) -> Array:
    """P(y) = P(noisy score of y is the largest), by Gauss-Hermite; sums to one."""
    t, w = np.polynomial.hermite_e.hermegauss(nodes)
    var = z.var + 0.5 * noise_var
    std = jnp.sqrt(var)
    points = z.mean[..., None] + std[..., None] * jnp.asarray(t, z.mean.dtype)  # (.., y, nodes)
    a = (points[..., None, :] - z.mean[..., None, :, None]) / std[..., None, :, None]  # (.., y, m, nodes)
    log_cdf = numerics.log_ndtr(a)
    own = jnp.eye(z.mean.shape[-1], dtype=z.mean.dtype)[..., None]
    log_prod = (log_cdf * (1 - own)).sum(-2)
    p = (jnp.exp(log_prod) * jnp.asarray(w / w.sum(), z.mean.dtype)).sum(-1)
    return p / p.sum(-1, keepdims=True)
