"""Counts whose rate is log-normal: their distribution function, quantiles and probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tdamp.numerics import counts
from tdamp.numerics.distribution import CountDistribution

CASES = [(-3.0, 0.5), (0.0, 1e-6), (0.4, 0.3), (1.0, 4.0), (5.0, 1e-4), (7.0, 1.0), (12.0, 0.01)]
"""Means and variances of the log rate: rare counts and frequent ones, sure and unsure."""


def rates(mean: float, var: float) -> tuple[np.ndarray, np.ndarray]:
    """20,001 rates and their probabilities: a dense grid over ten standard deviations of the log rate."""
    at = np.linspace(-10, 10, 20_001)
    weight = np.exp(-0.5 * at**2)
    return np.exp(mean + np.sqrt(var) * at), weight / weight.sum()


@pytest.mark.parametrize(("mean", "var"), CASES)
def test_distribution_function(mean: float, var: float) -> None:
    """quadrature: a dense grid of rates; zero below zero, the same between whole numbers; a known rate is Poisson."""
    rate, weight = rates(mean, var)
    some = np.unique(np.floor(np.exp(mean + np.sqrt(var) * np.array([-2.0, -0.5, 0.0, 1.0, 2.0, 3.0]))))
    expected = [weight @ stats.poisson.cdf(count, rate) for count in some]
    np.testing.assert_allclose(counts.cdf(some, np.full(len(some), mean), var), expected, atol=1e-7)
    np.testing.assert_array_equal(counts.cdf(some + 0.5, mean, var), counts.cdf(some, mean, var))
    assert counts.cdf(np.array([-1.0, -0.5]), mean, var).tolist() == [0, 0]
    np.testing.assert_allclose(counts.cdf(some, mean, 0.0), stats.poisson.cdf(some, np.exp(mean)), atol=1e-12)


@pytest.mark.parametrize(("mean", "var"), CASES)
def test_quantiles(mean: float, var: float) -> None:
    """quadrature: the least count whose probability, by a dense grid of rates, reaches the level."""
    rate, weight = rates(mean, var)
    for level in (0.025, 0.05, 0.5, 0.9, 0.975):
        result = float(counts.quantile(level, np.array(mean), np.array(var)))
        assert result >= 0 and result == np.floor(result)
        assert weight @ stats.poisson.cdf(result, rate) >= level - 1e-7
        assert result == 0 or weight @ stats.poisson.cdf(result - 1, rate) < level + 1e-7


def test_extremes() -> None:
    """contract: finite whole quantiles for log rates of -300 to 36, with variances of zero to 40."""
    mean, var = (a.ravel() for a in np.meshgrid([-300.0, -8.0, 0.0, 20.0, 36.0], [0.0, 1e-12, 1e-3, 1.0, 40.0]))
    low, high = (counts.quantile(level, mean, var) for level in (0.025, 0.975))
    assert np.isfinite(high).all() and (low >= 0).all() and (low <= high).all() and (high[mean < -100] == 0).all()


def test_the_distribution_of_counts() -> None:
    """identity: the probabilities of 400 counts sum to one and have the mean and the variance; its parts survive
    taking rows and moving to the host."""
    mean, var = np.array([0.5, 2.0, -1.0]), np.array([0.2, 0.1, 1e-6])
    result = CountDistribution.from_log_rate(mean, var)
    y = np.arange(400.0)
    prob = np.exp(result.log_density(y[:, None]))
    np.testing.assert_allclose(prob.sum(0), 1, rtol=1e-5)
    np.testing.assert_allclose(y @ prob, result.mean, rtol=1e-5)
    np.testing.assert_allclose((y**2) @ prob - (y @ prob) ** 2, result.var, rtol=1e-4)
    np.testing.assert_allclose(result.cdf(y[:, None]), np.cumsum(prob, 0), atol=1e-5)
    np.testing.assert_array_equal(result.quantile(0.9), counts.quantile(0.9, mean, var))
    assert (result.log_density(np.array([-1.0, 0.5, np.pi])) == -np.inf).all()
    part = result.on_host().take(np.array([1]))
    assert isinstance(part, CountDistribution) and part.quantile(0.9) == result.quantile(0.9)[1]
