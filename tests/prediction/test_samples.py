"""Networks drawn from a posterior, in the user's units."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from helpers.random_fitted import random_fitted
from tdamp.engine.network import Network
from tdamp.engine.predict import mean_network
from tdamp.prediction.samples import Sample, draw, in_units
from tdamp.training.fitted import Fitted

RNG = np.random.default_rng(0)
N_FEATURES = 6
TINY = 1e-20
"""A variance that shows in no digit of a sample; without any a weight would be known not to be needed."""
X_MEAN, X_SCALE = RNG.normal(size=N_FEATURES), 10 ** RNG.uniform(-2, 2, N_FEATURES)
Y_MEAN, Y_SCALE = np.array([3.0, -1.0]), np.array([0.1, 20.0])
X = X_MEAN + X_SCALE * RNG.normal(size=(30, N_FEATURES))


def samples(fitted: Fitted, n: int) -> list[Sample]:
    """Draws with the scales above."""
    return draw(fitted, n, np.random.RandomState(0), X_MEAN, X_SCALE, Y_MEAN, Y_SCALE)


def changed(fitted: Fitted, **change: Any) -> Fitted:
    """A posterior without doubt whether units are needed, but for what `change` puts in each layer."""
    layers = [
        layer._replace(
            bias_offset=np.full_like(layer.bias_offset, np.inf),
            active_prob=np.full_like(layer.active_prob, change.get("active_prob", 1.0)),
            weight=layer.weight._replace(var=np.full_like(layer.weight.var, TINY)),
            bias=layer.bias._replace(var=np.full_like(layer.bias.var, TINY)),
        )
        for layer in jax.device_get(fitted.state.layers)
    ]
    return replace(fitted, state=fitted.state._replace(layers=tuple(layers)))


@pytest.mark.parametrize("noise", ["constant", "varying"])
def test_without_doubt_a_sample_is_the_mean_network(noise: Any) -> None:
    """identity: scales outside of the posterior-mean network, or folded into the sample's weights."""
    n_out = 4 if noise == "varying" else 2
    network = Network((4, 5, n_out), noise=noise)
    fitted = changed(random_fitted(network, N_FEATURES, seed=1))
    inside = ((X - X_MEAN) / X_SCALE)[:, fitted.inputs]
    expected = Y_MEAN + Y_SCALE * np.asarray(mean_network(network, fitted.state.layers, inside))
    for sample in samples(fitted, 2):
        np.testing.assert_allclose(sample(X), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_units_are_on_as_often_as_they_are_probable() -> None:
    """rate: rows of weights that are zero, within four standard deviations of a count."""
    fitted, n, p = changed(random_fitted(Network((4, 5, 2)), N_FEATURES, seed=2), active_prob=0.3), 2000, 0.3
    for l in range(2):
        on = np.mean([(sample.weights[l] != 0).any(1) for sample in samples(fitted, n)])
        units = (4, 5)[l]
        assert on == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / (n * units)))


def test_the_units_of_the_user() -> None:
    """identity: one layer, (x - x_mean) / x_scale - centre into W, of whose outputs two are targets."""
    weight, bias, centre = RNG.normal(size=(N_FEATURES, 3)), RNG.normal(size=3), RNG.normal(size=N_FEATURES)
    [(folded, constant)] = in_units([(centre, weight, bias)], 2, X_MEAN, X_SCALE, Y_MEAN, Y_SCALE)
    z = ((X - X_MEAN) / X_SCALE - centre) @ weight + bias
    np.testing.assert_allclose(X @ folded + constant, Y_MEAN + Y_SCALE * z[:, :2], rtol=1e-10)


def test_rows_that_a_sample_cannot_read() -> None:
    """contract: too few columns, and numbers that are not finite."""
    [sample] = samples(random_fitted(Network((4, 5, 2)), N_FEATURES, seed=3), 1)
    for wrong in (X[:, :1], X[0], np.where(X > 0, X, np.nan)):
        with pytest.raises(ValueError, match="expected finite numbers"):
            sample(wrong)
