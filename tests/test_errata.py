"""Slips of the printed paper: each printed form fails an oracle that ours passes."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr, logit
from scipy.stats import norm

from oracles import gumbel as gumbel_oracle
from oracles import loops, supports
from tdamp.factors.likelihoods.probit import Probit
from tdamp.factors.priors import group
from tdamp.numerics import gumbel
from tdamp.numerics.beliefs import Message, Moments, gain, log_norm, moments, tilt

RNG = np.random.default_rng(0)
PRIOR = Moments(0.3 * RNG.normal(size=(2, 3)), RNG.uniform(0.3, 1.0, (2, 3)))
W_EXT = Message(3 * RNG.normal(size=(2, 3)), 4 * RNG.exponential(size=(2, 3)))
PRIOR_LOGIT = np.array([-0.4, 0.8])


def test_e1_the_data_must_enter_the_slab() -> None:
    """enumeration: printed with B->A, the slab's posterior is the prior squared and no datum moves it."""
    exact = supports.group_posterior(np.full(2, 50.0), *PRIOR, *W_EXT, np.arange(2))  # groups on for sure
    sent = PRIOR  # the paper's own B->A slab
    printed_var = 1 / (1 / PRIOR.var + 1 / sent.var)
    printed_mean = printed_var * (PRIOR.mean / PRIOR.var + sent.mean / sent.var)
    np.testing.assert_allclose(printed_mean, PRIOR.mean)  # W_EXT is nowhere in it
    assert np.max(np.abs(printed_mean - exact.mean)) > 0.5
    ours = tilt(PRIOR, W_EXT)
    np.testing.assert_allclose(ours.mean, exact.mean, rtol=1e-10)
    np.testing.assert_allclose(ours.var, exact.var, rtol=1e-10)


def test_e2_the_product_runs_over_the_other_weights() -> None:
    """enumeration: printed, the factors of the product carry the weight's own index."""
    ratio = np.asarray(-gain(PRIOR, W_EXT))  # log eta of every weight
    n, m = 1, 2
    without = Message(*(x.copy() for x in W_EXT))
    for x in without:
        x[n, m] = 0.0
    exact = supports.group_posterior(PRIOR_LOGIT, *PRIOR, *without, np.arange(2)).logit[n]
    printed = PRIOR_LOGIT[n] - (ratio.shape[1] - 1) * ratio[n, m]
    assert abs(printed - exact) > 1
    ours = group.extrinsic_logit(PRIOR_LOGIT, PRIOR, W_EXT)[n, m]
    np.testing.assert_allclose(ours, exact, rtol=1e-10)


def test_e3_the_last_probit_message() -> None:
    """quadrature: printed as Q((mean_y - z)/...), a rival would be pushed above the label instead of below.

    Two classes, so that z_y's cavity is its forward message and one integral over the rival is exact.
    """
    mean, var, noise_var = np.array([0.4, 0.1]), np.array([0.5, 0.8]), 0.3
    std = np.sqrt(noise_var + var[0])

    def moved(sign: float) -> float:
        """Mean of the rival's posterior less its forward mean, with Q(sign (z - mean_y) / std)."""

        def density(z: float) -> float:
            return norm.pdf(z, mean[1], np.sqrt(var[1])) * norm.sf(sign * (z - mean[0]) / std)

        return quad(lambda z: z * density(z), -12, 12)[0] / quad(density, -12, 12)[0] - mean[1]

    exact = loops.probit_exact(mean, var, 0, noise_var)[1][1] * var[1]
    np.testing.assert_allclose(moved(+1.0), exact, rtol=1e-7)
    assert moved(-1.0) > 0 > exact  # the printed sign
    ours, _ = Probit().score(Moments(jnp.asarray(mean), jnp.asarray(var)), jnp.asarray(0), noise_var)
    np.testing.assert_allclose(ours[1] * var[1], exact, rtol=1e-7)


def test_e4_the_gumbel_is_the_minimum_one() -> None:
    """quadrature: the printed location mean + gamma scale has the right mean only for the minimum Gumbel."""
    mean, std = -1.1, 0.7
    loc, scale = gumbel.fit(jnp.float64(mean), jnp.float64(mean**2 + std**2))
    first, second = gumbel_oracle.moments(float(loc), float(scale))
    np.testing.assert_allclose([first, second], [mean, mean**2 + std**2], rtol=1e-9)
    # the textbook (maximum) Gumbel of the same location and scale is its mirror image about the location
    maximum = 2 * float(loc) - first
    np.testing.assert_allclose(maximum - mean, 2 * np.euler_gamma * scale, rtol=1e-8)
    assert maximum - mean > 0.8 * std


def test_e8_averaging_needs_the_gaussian_normaliser() -> None:
    """quadrature: the geometric mean of spike-slabs has the slab's mass in its odds; disagreement lowers it."""
    share = np.array([0.2, 0.5, 0.3])
    mean, var, prob = np.array([-1.0, 0.5, 2.0]), np.array([0.2, 0.4, 0.1]), np.array([0.6, 0.9, 0.7])

    def slab(x: float) -> float:
        return float(np.prod((prob * norm.pdf(x, mean, np.sqrt(var))) ** share))

    on = quad(slab, -8, 8, epsabs=0, epsrel=1e-11, limit=200)[0]
    exact = np.log(on / np.prod((1 - prob) ** share))
    printed = (share * logit(prob)).sum()
    messages = Message(mean / var, 1 / var)
    pooled = Message((share * messages.shift).sum(), (share * messages.prec).sum())
    log_mass = log_norm(moments(pooled)) - (share * log_norm(moments(messages))).sum()
    assert log_mass < 0 and abs(printed - exact) > 1
    np.testing.assert_allclose(printed + log_mass, exact, rtol=1e-8)
    agree = Message(*(np.full(3, x[0]) for x in messages))
    pooled = Message((share * agree.shift).sum(), (share * agree.prec).sum())
    np.testing.assert_allclose(log_norm(moments(pooled)), (share * log_norm(moments(agree))).sum(), rtol=1e-12)


def test_e12_the_product_likelihood_is_not_normalised() -> None:
    """quadrature: its sum over the labels is far below one for ten classes; the argmax of noisy scores sums to one."""
    noise_var = 0.7
    t = np.linspace(-15, 15, 4001)
    sums = []
    for spread in (0.0, 1.0, 5.0):
        z = spread * np.random.default_rng(1).normal(size=10)
        known = Moments(jnp.tile(z, (10, 1)), jnp.zeros((10, 10)))
        product = np.exp(Probit().log_partition(known, jnp.arange(10), noise_var))
        beats = norm.cdf((z[:, None] - z[None, :]) / np.sqrt(noise_var))
        literal = [np.prod(np.delete(beats[y], y)) for y in range(10)]
        np.testing.assert_allclose(product, literal, rtol=1e-10)
        sums.append(product.sum())
        noisy = 0.0
        for y in range(10):
            score = z[y] + np.sqrt(noise_var / 2) * t
            rivals = sum(log_ndtr((score - z[m]) / np.sqrt(noise_var / 2)) for m in range(10) if m != y)
            noisy += (norm.pdf(t) * np.exp(rivals)).sum() * (t[1] - t[0])
        np.testing.assert_allclose(noisy, 1, rtol=1e-9)
    assert sums[0] < 0.1 and np.all(np.array(sums) < 0.995), sums
