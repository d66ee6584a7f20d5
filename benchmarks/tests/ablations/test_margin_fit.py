"""The margins' mixture and its Gumbel fit."""

import numpy as np
import pytest

from tdamp import Network, Settings
from tdamp.engine.state import init
from tdamp.factors.likelihoods.probit import Probit
from tdamp.numerics.beliefs import Moments
from tdamp.numerics.gumbel import best_noise_var_by_quadrature
from tdamp_bench.ablations import margin_fit

RNG = np.random.default_rng(0)


PARTS = Moments(RNG.normal(-3, 1, 500), RNG.uniform(0.05, 0.8, 500))


def moments_on(grid: np.ndarray, density: np.ndarray) -> list[float]:
    """Mass, mean and second moment by the trapezoid rule."""
    return [np.trapezoid(density * grid**power, grid) for power in range(3)]


def test_mixture_and_gumbel_share_two_moments():
    """quadrature: mass, mean and second moment of both densities are those of the parts."""
    result = margin_fit.fit(PARTS)
    wanted = [1.0, PARTS.mean.mean(), (PARTS.mean**2 + PARTS.var).mean()]
    np.testing.assert_allclose(moments_on(result.grid, result.mixture), wanted, rtol=1e-6)
    np.testing.assert_allclose(moments_on(result.grid, result.gumbel), wanted, rtol=1e-5)
    centred = result.mixture * (result.grid - result.numbers["mean"]) ** 3
    skew = np.trapezoid(centred, result.grid) / result.numbers["var"] ** 1.5
    assert result.numbers["skew"] == pytest.approx(skew, rel=1e-5)


def test_distances_of_two_known_densities():
    """quadrature: total variation and Kolmogorov distance by sums over a finer grid; none between equals."""
    result = margin_fit.fit(PARTS)
    fine = np.linspace(-30, 10, 200_001)
    mixed = margin_fit.mixture_density(PARTS, fine)
    apart = (
        mixed - margin_fit.gumbel_density(result.numbers["gumbel_loc"], result.numbers["gumbel_scale"], fine)
    ) * 2e-4
    assert result.numbers["tv"] == pytest.approx(0.5 * np.abs(apart).sum(), rel=1e-3)
    assert result.numbers["ks"] == pytest.approx(np.abs(np.cumsum(apart)).max(), rel=1e-3)


def test_direct_argmax_of_a_gumbel_is_the_gumbel_rule():
    """twin: the engine's F: scale^2 F(loc / scale), whatever the guess."""
    grid = np.linspace(-60, 10, 20_001)
    wanted = 4 * best_noise_var_by_quadrature(-1.5)
    for guess in (wanted / 20, 20 * wanted):
        result = margin_fit.direct_noise(grid, margin_fit.gumbel_density(-3.0, 2.0, grid), guess)
        assert result == pytest.approx(wanted, rel=1e-3)


def test_direct_argmax_of_a_mixture_is_the_numerical_rule(blobs):
    """twin: the M-step with noise_update="numerical" on the same posterior of z."""
    network = Network((12, 6, 3), "classification", "relu")
    state = init(network, Settings(), np.random.default_rng(0), blobs.x, blobs.y)
    mean = np.eye(3)[blobs.y] * 2 + RNG.normal(0, 1, (120, 3))
    z = Moments(mean, np.full((120, 3), 0.3))
    stats = Probit().noise_stats("numerical", z, blobs.y, np.ones(120), np.asarray(0.7))
    wanted = float(Probit().noise_target("numerical", stats, np.asarray(0.7)))
    rival = np.eye(3)[blobs.y] == 0
    margin = (mean - np.take_along_axis(mean, blobs.y[:, None], 1))[rival]
    result = margin_fit.fit(Moments(margin, np.full(240, 0.6)))
    assert result.numbers["direct_noise"] == pytest.approx(wanted, rel=0.02)
    parts = margin_fit.mixture(network, state, blobs.x, blobs.y)
    assert parts.mean.shape == parts.var.shape == (240,) and (parts.var > 0).all()


def test_margins_of_a_posterior_use_the_label(blobs):
    """identity: the label pulls its own score up: every margin's mean is below that of the forward message."""
    network = Network((12, 6, 3), "classification", "relu")
    state = init(network, Settings(), np.random.default_rng(0), blobs.x, blobs.y)
    post = margin_fit.mixture(network, state, blobs.x, blobs.y)
    far = margin_fit.mixture(network, state._replace(noise_var=state.noise_var * 1e9), blobs.x, blobs.y)
    assert (post.mean < far.mean).mean() > 0.99 and (post.var <= far.var * 1.0001).all()


def test_what_is_shown_is_scaled():
    """contract: maxima of one, and nothing left out that can be seen."""
    grid, mixed, fitted = margin_fit.shown(margin_fit.fit(PARTS), 241)
    assert len(grid) == 241 and mixed.max() == pytest.approx(1, abs=1e-3) and fitted.max() == pytest.approx(1, abs=1e-3)
    assert max(mixed[0], fitted[0]) < 0.01 and max(mixed[-1], fitted[-1]) < 0.01
