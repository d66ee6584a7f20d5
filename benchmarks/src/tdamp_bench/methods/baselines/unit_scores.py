"""By what units are ranked: the energy of their outgoing weights, or SNIP's saliency."""

from __future__ import annotations

import jax
import numpy as np

from ...core.problems import Problem
from . import adam_optax
from .start import Params

SNIP_ROWS = 1000
"""Rows whose loss gives the saliencies; SNIP takes one minibatch, which is noisier."""
_gradient = jax.jit(jax.grad(adam_optax.loss), static_argnums=1)


def energy(params: Params, by: str = "sum") -> list[np.ndarray]:
    """Sum, or mean, of the squares of every unit's outgoing weights: the mean is fair to small groups."""
    squares = [np.square(weight, dtype=np.float64) for weight, _ in params]
    return [square.sum(1) if by == "sum" else square.mean(1) for square in squares]


def saliency(params: Params, problem: Problem) -> list[np.ndarray]:
    """sum over a unit's outgoing weights of |weight x its gradient|."""
    x, y = problem.x[:SNIP_ROWS], problem.y[:SNIP_ROWS]
    grads = _gradient(params, problem.task, x, y, np.ones(len(x), np.float32))
    return [np.abs(weight * np.asarray(grad)).sum(1) for (weight, _), (grad, _) in zip(params, grads, strict=True)]
