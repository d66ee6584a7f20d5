"""A planted layer: state evolution and ridge regression."""

import numpy as np
import pytest

from tdamp_bench.studies import planted_layer


def test_mmse():
    """calibration: the squared error of Bayes' rule over a million draws; v / (1 + v) for a Gaussian."""
    assert planted_layer.mmse(0.3, 1.0) == pytest.approx(0.3 / 1.3, rel=1e-6)
    rng, rho, noise, n = np.random.default_rng(0), 0.1, 0.2, 1_000_000
    u = (rng.random(n) < rho) * rng.standard_normal(n) / np.sqrt(rho)
    r = u + np.sqrt(noise) * rng.standard_normal(n)
    wide = 1 / rho + noise
    odds = rho / (1 - rho) * np.sqrt(noise / wide) * np.exp(0.5 * r**2 * (1 / noise - 1 / wide))
    square = (u - odds / (1 + odds) * r / (rho * wide)) ** 2
    assert abs(planted_layer.mmse(noise, rho) - square.mean()) < 4 * square.std() / np.sqrt(n)


def test_the_planted_layer_ends_at_ridge():
    """identity: AMP's fixed point of a Gaussian model is the posterior mean, which is ridge regression."""
    model, n = planted_layer.MODELS["gaussian"], 60
    rng = np.random.default_rng(0)
    x = rng.standard_normal((90, n)).astype(np.float32)
    y = (x @ rng.standard_normal((n, 1)) / np.sqrt(n)).astype(np.float32)
    result = planted_layer._infer(n, False, planted_layer.layer_of(model, n), x, y, model.noise_var, 200)
    ridge = np.linalg.solve(x.T @ x + n * model.noise_var * np.eye(n), x.T @ y)
    np.testing.assert_allclose(result, ridge, atol=2e-4)
