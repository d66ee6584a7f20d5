"""The burst-sparse prior against every support of the chain."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from oracles import supports
from tdamp.factors.priors import burst
from tdamp.factors.priors.burst import Chain

N = 9
CHAINS = [(0.1, 0.3), (0.5, 0.5), (0.02, 0.01), (0.9, 0.8)]
posterior_logit = jax.jit(burst.posterior_logit)
extrinsic_logit = jax.jit(burst.extrinsic_logit)
transition_counts = jax.jit(burst.transition_counts)


def chain_of(p01: float, p10: float, dtype: str = "float64") -> Chain:
    """The chain with these switching probabilities."""
    return Chain(*(jnp.asarray(np.log(p / (1 - p)), dtype) for p in (p01, p10)))


def random_evidence(seed: int) -> np.ndarray:
    """Log-likelihood ratios of the units."""
    return np.random.default_rng(seed).normal(size=N) * 3


@pytest.mark.parametrize("transitions", CHAINS)
def test_posterior_and_counts(transitions: tuple[float, float], dtype: str) -> None:
    """enumeration: posterior log-odds and expected transitions over all 2^9 supports."""
    unary = random_evidence(0).astype(dtype)
    exact = supports.chain_posterior(unary.astype(float), *transitions)
    tol = {"float32": 2e-5, "float64": 1e-11}[dtype]
    chain = chain_of(*transitions, dtype)
    ours = posterior_logit(unary, chain)
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours, exact.logit, rtol=tol, atol=tol)
    np.testing.assert_allclose(transition_counts(unary, chain), exact.counts, rtol=tol, atol=tol)


@pytest.mark.parametrize("transitions", CHAINS)
def test_extrinsic(transitions: tuple[float, float]) -> None:
    """enumeration: a unit's extrinsic log-odds are its posterior with its own evidence left out."""
    unary = random_evidence(1)
    ours = extrinsic_logit(unary, chain_of(*transitions))
    for n in range(N):
        without = unary.copy()
        without[n] = 0.0
        exact = supports.chain_posterior(without, *transitions)
        np.testing.assert_allclose(ours[n], exact.logit[n], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("active_prob", [0.05, 0.5, 0.7])
def test_memoryless_chain_is_the_group_prior(active_prob: float) -> None:
    """identity: p01 = 1 - p10 forgets the neighbour, so every unit has the same log-odds plus its evidence."""
    unary = random_evidence(2)
    ours = posterior_logit(unary, chain_of(active_prob, 1 - active_prob))
    np.testing.assert_allclose(ours, unary + np.log(active_prob / (1 - active_prob)), rtol=1e-12, atol=1e-12)


def test_infinite_evidence(dtype: str) -> None:
    """enumeration: removed and fixed units stay infinite, the others are as if those states were given."""
    unary = random_evidence(3)
    unary[2], unary[6] = -np.inf, np.inf
    finite = np.where(np.isinf(unary), np.sign(unary) * 200, unary)  # e^-200: as good as given
    exact = supports.chain_posterior(finite, 0.1, 0.3)
    chain = chain_of(0.1, 0.3, dtype)
    ours = np.asarray(posterior_logit(unary.astype(dtype), chain))
    assert ours[2] == -np.inf and ours[6] == np.inf
    known = np.isfinite(unary)
    tol = {"float32": 2e-5, "float64": 1e-11}[dtype]  # as without it: the clip must not be felt by the neighbours
    np.testing.assert_allclose(ours[known], exact.logit[known], rtol=tol, atol=tol)
    counts = transition_counts(unary.astype(dtype), chain)
    np.testing.assert_allclose(counts, exact.counts, rtol=tol, atol=tol)


def test_naive_product_underflows() -> None:
    """identity: likelihoods multiplied along 400 units underflow float64; the log domain stays exact.

    Every unit has likelihoods e^-5 (off) and e^-3 (on): the plain forward pass ends at 0 / 0, while ours agrees with
    a short chain, whose ends are out of reach of its middle.
    """
    p01, p10 = 0.1, 0.3
    table = np.array([[1 - p01, p01], [p10, 1 - p10]])
    naive = np.array([p10, p01]) / (p01 + p10)
    for _ in range(400):
        naive = (naive * np.exp([-5.0, -3.0])) @ table
    assert np.all(naive == 0)
    ours = posterior_logit(jnp.full(400, 2.0), chain_of(p01, p10))
    assert np.all(np.isfinite(ours))
    short = supports.chain_posterior(np.full(12, 2.0), p01, p10)
    np.testing.assert_allclose(ours[200], short.logit[6], rtol=1e-3)
    np.testing.assert_allclose(ours[0], short.logit[0], rtol=1e-3)


@pytest.mark.parametrize("pseudo_count", [0.0, 1.0])
def test_learn_maximises_the_expected_likelihood(pseudo_count: float) -> None:
    """enumeration: no chain near the learned one makes the counted transitions likelier."""
    counts = supports.chain_posterior(random_evidence(4), 0.2, 0.4).counts
    learned = burst.learn(jnp.asarray(counts), pseudo_count)
    grid = np.linspace(-6, 6, 4001)

    def expected(logit: np.ndarray, stay: float, switch: float) -> np.ndarray:
        return -(switch + pseudo_count) * np.log1p(np.exp(-logit)) - (stay + pseudo_count) * np.log1p(np.exp(logit))

    best_on = grid[np.argmax(expected(grid, counts[0, 0], counts[0, 1]))]
    best_off = grid[np.argmax(expected(grid, counts[1, 1], counts[1, 0]))]
    np.testing.assert_allclose(learned, [best_on, best_off], atol=0.002)


def test_em_increases_the_likelihood() -> None:
    """enumeration: without pseudo-counts each EM step raises the chain's likelihood.

    The start's share is left out of the M-step, so the units at the start are made certain by strong evidence.
    """
    unary = np.array([6.0, 4.0, 5.0, -4.0, -6.0, -5.0, -3.0, 4.0, 5.0])
    p01, p10 = 0.5, 0.5
    likelihood = [supports.chain_posterior(unary, p01, p10).log_likelihood]
    for _ in range(5):
        chain = burst.learn(transition_counts(unary, chain_of(p01, p10)), 0.0)
        p01, p10 = (float(jax.nn.sigmoid(x)) for x in chain)
        likelihood.append(supports.chain_posterior(unary, p01, p10).log_likelihood)
    assert np.all(np.diff(likelihood) > 0), likelihood
