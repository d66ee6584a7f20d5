"""Networks drawn from the posterior, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy.special import expit

from ..engine.predict import Affine, plain_outputs
from ..factors.priors import spike_slab
from ..training.fitted import Fitted


class Sample(NamedTuple):
    """A network of the posterior, in the user's units: u = f(u W + b) layer by layer, on the columns `inputs` of X."""

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    inputs: np.ndarray
    activation: str

    def __call__(self, X: Any) -> np.ndarray:
        """Targets (regression), logs of rates (counts) or class scores of every row, without noise."""
        u = np.asarray(X, np.float64)
        if u.ndim != 2 or u.shape[1] <= max(self.inputs) or not np.isfinite(u).all():
            raise ValueError(f"X has shape {u.shape}: expected finite numbers, in the columns that the fit was given")
        first, *rest = (Affine(weight, bias) for weight, bias in zip(self.weights, self.biases, strict=True))
        return plain_outputs(self.activation, first(u[:, self.inputs]), rest)


def draw(
    fitted: Fitted,
    n: int,
    rng: np.random.RandomState,
    x_mean: np.ndarray,
    x_scale: np.ndarray,
    y_mean: np.ndarray | float,
    y_scale: np.ndarray | float,
) -> list[Sample]:
    """`n` samples: a unit's group is on with its probability, and then its weights follow their slabs."""
    fitted.network.check_dense("a sample is a network of dense layers; predict_distribution takes every kind")
    layers = jax.device_get(fitted.state.layers)
    bias_logits = [spike_slab.active_logit(l.bias_offset, l.bias, l.bias_base_var) for l in layers]
    scales = x_mean[fitted.inputs], x_scale[fitted.inputs], y_mean, y_scale
    samples = []
    for _ in range(n):
        drawn = []
        for layer, logit in zip(layers, bias_logits, strict=True):
            on = rng.random_sample(layer.active_prob.shape) < layer.active_prob
            bias_on = rng.random_sample(layer.bias.mean.shape) < expit(np.asarray(logit, np.float64))
            weight = on[:, None] * _normal(rng, *layer.weight)
            drawn.append((layer.centre, weight, bias_on * _normal(rng, *layer.bias)))
        weights, biases = zip(*in_units(drawn, fitted.network.n_targets, *scales), strict=True)
        samples.append(Sample(weights, biases, fitted.inputs, fitted.network.activation))
    return samples


def in_units(
    layers: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    n_targets: int,
    x_mean: np.ndarray,
    x_scale: np.ndarray,
    y_mean: np.ndarray | float,
    y_scale: np.ndarray | float,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of a network on the user's columns, of each layer's centre, weights and biases.

    The layers see (x - x_mean) / x_scale and predict (y - y_mean) / y_scale. Of their outputs those of the targets are
    left, without logs of a varying noise.
    """
    folded = []
    for l, (centre, weight, bias) in enumerate(layers):
        bias = bias - centre @ weight
        if l == 0:
            weight = weight / x_scale[:, None]
            bias = bias - x_mean @ weight
        if l == len(layers) - 1:
            weight = weight[:, :n_targets] * y_scale
            bias = bias[:n_targets] * y_scale + y_mean
        folded.append((weight, bias))
    return folded


def _normal(rng: np.random.RandomState, mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    return mean.astype(np.float64) + np.sqrt(var, dtype=np.float64) * rng.standard_normal(mean.shape)
