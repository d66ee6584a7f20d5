"""HMC."""

import jax.numpy as jnp
import numpy as np
import pytest

from tdamp_bench.studies import sampler


def test_hmc_of_a_gaussian():
    """calibration: means and variances of a Gaussian within five of their standard errors, by the effective draws."""
    std = np.array([0.5, 1.0, 2.0], np.float32)
    starts = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    draws, accept = sampler.sample(
        lambda q: -0.5 * jnp.sum((q - 1) ** 2 / std**2), starts, 0, sampler.Length(300, 1000, 8, 1)
    )
    assert draws.shape == (4, 1000, 3) and 0.6 < accept.mean() < 0.95 and (sampler.r_hat(draws) < 1.05).all()
    n = np.minimum(sampler.ess(draws), sampler.ess((draws - 1) ** 2))
    assert (n > 200).all()
    flat = draws.reshape(-1, 3).astype(np.float64)
    assert (np.abs(flat.mean(0) - 1) < 5 * std / np.sqrt(n)).all()
    assert (np.abs(flat.var(0) / std**2 - 1) < 5 * np.sqrt(2 / n)).all()


def test_chains_that_disagree():
    """calibration: R-hat of chains with other means is large; an AR(1) chain has (1 - c) / (1 + c) of its draws."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4, 2000))
    assert sampler.r_hat(noise) < 1.01 < 1.5 < sampler.r_hat(noise + np.arange(4)[:, None])
    ar, c = noise.copy(), 0.8
    for i in range(1, 2000):
        ar[:, i] += c * ar[:, i - 1]
    assert sampler.ess(ar) == pytest.approx(8000 * (1 - c) / (1 + c), rel=0.25)
    assert sampler.ess(noise) == pytest.approx(8000, rel=0.15)
