"""Networks with random posteriors of wide scales, as a training would hand them over: no training is needed."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tdamp.engine import predict
from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.engine.state import init
from tdamp.export.plain import Plain, plain_of
from tdamp.numerics.beliefs import Moments
from tdamp.numerics.distribution import Distribution
from tdamp.training.fitted import Fitted
from tdamp.training.outcome import Outcome

output_moments = jax.jit(predict.output_moments, static_argnums=0)
mean_network = jax.jit(predict.mean_network, static_argnums=0)
class_probs = jax.jit(predict.class_probs)


def random_fitted(network: Network, n_features: int, seed: int, decades: float = 1.0) -> Fitted:
    """A posterior whose layers' scales are 10^-decades..10^decades, with units in question and pruned inputs."""
    rng = np.random.default_rng(seed)
    n_in, n_out = network.widths[0], network.widths[-1]
    state = init(network, Settings(), rng, rng.normal(size=(20, n_in)), rng.normal(size=(20, n_out)))
    layers = []
    for layer in state.layers:
        shape = layer.weight.mean.shape
        scale, doubt = 10 ** rng.uniform(-decades, decades), 10 ** rng.uniform(-2, 0)
        layers.append(
            layer._replace(
                weight=_spread(rng, shape, scale / np.sqrt(shape[0]), doubt),
                bias=_spread(rng, shape[1:], scale, doubt),
                centre=jnp.asarray(rng.normal(size=shape[0])),
                bias_offset=jnp.asarray(rng.choice([-3.0, np.inf], shape[1])),
                active_prob=jnp.asarray(rng.choice([0.3, 1.0], shape[0])),
            )
        )
    noise_var = 10 ** rng.uniform(-2, 0, n_out if network.task == "regression" else ())
    state = state._replace(layers=tuple(layers), noise_var=jnp.asarray(noise_var))
    inputs = np.sort(rng.permutation(n_features)[:n_in])
    return Fitted(network, state, (inputs, *map(np.arange, network.widths[1:-1])), (), Outcome.OK, epoch=1)


def _spread(rng: np.random.Generator, shape: tuple[int, ...], scale: float, doubt: float) -> Moments:
    var = (scale * doubt) ** 2 * rng.exponential(size=shape)
    return Moments(jnp.asarray(scale * rng.normal(size=shape)), jnp.asarray(var))


def random_plain(fitted: Fitted, n_features: int, seed: int, **more: Any) -> tuple[Plain, np.ndarray]:
    """Its plain form with random scales 1e-3..1e3 of the columns and outputs, and 100 rows of float32 data."""
    rng = np.random.default_rng((1, seed))
    x_scale = 10 ** rng.uniform(-3, 3, n_features)
    x_mean = x_scale * rng.normal(size=n_features) * 10
    if fitted.network.task == "regression":
        y_scale = 10 ** rng.uniform(-3, 3, fitted.network.widths[-1])
        more |= {"y_scale": y_scale, "y_mean": y_scale * rng.normal(size=y_scale.shape)}
    x = (x_mean + x_scale * rng.normal(size=(100, n_features))).astype(np.float32)
    return plain_of(fitted, n_features=n_features, x_mean=x_mean, x_scale=x_scale, **more), x


def scaled(plain: Plain, x: np.ndarray) -> np.ndarray:
    """What the network sees."""
    return (x.astype(np.float64)[:, plain.inputs] - plain.x_mean) / plain.x_scale


def _moments(fitted: Fitted, plain: Plain, x: np.ndarray) -> Moments:
    network = dataclasses.replace(fitted.network, task="regression")  # is not asked, and would be compiled again
    return output_moments(network, fitted.state.layers, scaled(plain, x))


def exact_regression(fitted: Fitted, plain: Plain, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and epistemic variance in y's units by tdamp's own prediction in float64."""
    z = _moments(fitted, plain, x)
    result = Distribution.from_vars(z.mean, z.var, fitted.state.noise_var)
    mean = plain.y_mean + plain.y_scale * np.asarray(result.mean)
    epistemic = plain.y_scale**2 * np.asarray(result.epistemic_var)
    return mean, epistemic + plain.y_scale**2 * np.asarray(result.aleatoric_var), epistemic


def exact_probs(fitted: Fitted, plain: Plain, x: np.ndarray) -> np.ndarray:
    """Class probabilities by tdamp's own prediction in float64."""
    z = _moments(fitted, plain, x)
    return np.asarray(class_probs(z, fitted.state.noise_var))


def scale_of(mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    """Size of each output: of the means' spread and the standard deviations, the larger."""
    return np.maximum(np.ptp(mean, axis=0), np.sqrt(var).max(0))
