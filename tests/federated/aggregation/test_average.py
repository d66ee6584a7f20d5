"""geometric and algebraic: averages of spike-slabs against quadrature and enumeration. Erratum E8."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

from tdamp.federated.aggregation.algebraic import algebraic
from tdamp.federated.aggregation.average import SpikeSlab
from tdamp.federated.aggregation.base import on_host, shares_of, weighted_sum
from tdamp.federated.aggregation.geometric import geometric, natural, spike_slab

RULES = [geometric, algebraic]
SHARES = [0.2, 0.5, 0.3]


def client(seed: int, groups: int = 4, size: int = 3) -> SpikeSlab:
    """A belief with some certain groups among doubtful ones."""
    rng = np.random.default_rng(seed)
    return SpikeSlab(
        2 * rng.normal(size=groups),
        on_host(rng.normal(size=(groups, size)), rng.uniform(0.05, 0.6, (groups, size))),
    )


CLIENTS = [client(seed) for seed in range(3)]
SCALARS = [client(seed, groups=5, size=1) for seed in range(10, 13)]


@pytest.mark.parametrize("g", range(5))
def test_geometric_is_the_product_of_densities(g: int) -> None:
    """quadrature: mean, variance and log-odds of prod_k p_k^share_k, atom and slab integrated apart."""
    prob = [float(expit(b.logit[g])) for b in SCALARS]
    means, stds = [float(b.slab.mean[g, 0]) for b in SCALARS], [float(np.sqrt(b.slab.var[g, 0])) for b in SCALARS]

    def slab(x: float) -> float:
        parts = zip(prob, means, stds, SHARES, strict=True)
        return float(np.prod([(p * norm.pdf(x, m, s)) ** share for p, m, s, share in parts]))

    def integral(power: int) -> float:
        return quad(lambda x: x**power * slab(x), -8, 8, epsabs=0, epsrel=1e-11, limit=300, points=means)[0]

    mass, first, second = (integral(power) for power in range(3))
    off = np.prod([(1 - p) ** share for p, share in zip(prob, SHARES, strict=True)])
    result = geometric(SCALARS, SHARES)
    np.testing.assert_allclose(result.slab.mean[g, 0], first / mass, rtol=1e-8)
    np.testing.assert_allclose(result.slab.var[g, 0], second / mass - (first / mass) ** 2, rtol=1e-8)
    np.testing.assert_allclose(result.logit[g], np.log(mass / off), rtol=1e-8)


def test_e8_the_printed_log_odds_are_wrong() -> None:
    """identity: without the slabs' normaliser (as printed) clients that disagree count as if they agreed."""
    result = geometric(SCALARS, SHARES).logit  # equal to quadrature, see above
    printed = weighted_sum([b.logit for b in SCALARS], SHARES)
    assert np.all(result < printed) and np.max(printed - result) > 0.5
    agree = [b._replace(slab=SCALARS[0].slab) for b in SCALARS]
    np.testing.assert_allclose(geometric(agree, SHARES).logit, printed, rtol=1e-12)


def log_mass(clients: list[SpikeSlab], support: tuple[int, ...]) -> float:
    """log of the integral of the clients' densities^share over the weights of one support."""
    total = 0.0
    for g, on in enumerate(support):
        for b, share in zip(clients, SHARES, strict=True):
            total += share * float(log_expit(b.logit[g] if on else -b.logit[g]))
        for j in range(clients[0].slab.mean.shape[1]) if on else ():
            means, stds = ([float(f(b)[g, j]) for b in clients] for f in (lambda b: b.slab.mean, _std))

            def density(x: float, means: list[float] = means, stds: list[float] = stds) -> float:
                return float(np.exp(np.dot(SHARES, norm.logpdf(x, means, stds))))

            total += np.log(quad(density, -8, 8, epsabs=0, epsrel=1e-11, limit=300, points=means)[0])
    return total


def _std(belief: SpikeSlab) -> np.ndarray:
    return np.sqrt(np.asarray(belief.slab.var))


def test_geometric_log_odds_of_groups() -> None:
    """enumeration: every support of three groups of two weights, each support's mass by quadrature."""
    clients = [client(seed, groups=3, size=2) for seed in range(3)]
    masses = {support: np.exp(log_mass(clients, support)) for support in product((0, 1), repeat=3)}
    total = sum(masses.values())
    on = [sum(mass for support, mass in masses.items() if support[g]) / total for g in range(3)]
    np.testing.assert_allclose(geometric(clients, SHARES).logit, logit(on), rtol=1e-7)


@pytest.mark.parametrize("g", range(5))
def test_algebraic_has_the_moments_of_the_mixture(g: int) -> None:
    """quadrature: P(on), and mean and variance of the mixture's continuous part."""
    prob = np.array([expit(b.logit[g]) for b in SCALARS])
    means = np.array([b.slab.mean[g, 0] for b in SCALARS])
    stds = np.array([np.sqrt(b.slab.var[g, 0]) for b in SCALARS])

    def integral(power: int) -> float:
        def density(x: float) -> float:
            return float(x**power * np.dot(SHARES, prob * norm.pdf(x, means, stds)))

        return quad(density, -8, 8, epsabs=0, epsrel=1e-11, limit=300, points=means)[0]

    mass, first, second = (integral(power) for power in range(3))
    result = algebraic(SCALARS, SHARES)
    np.testing.assert_allclose(expit(result.logit[g]), mass, rtol=1e-8)
    np.testing.assert_allclose(result.slab.mean[g, 0], first / mass, rtol=1e-8)
    np.testing.assert_allclose(result.slab.var[g, 0], second / mass - (first / mass) ** 2, rtol=1e-8)


def test_natural_parameters_and_back() -> None:
    """identity: spike_slab inverts natural."""
    back = spike_slab(natural(CLIENTS[0]))
    for a, b in zip((back.logit, *back.slab), (CLIENTS[0].logit, *CLIENTS[0].slab), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("rule", RULES)
def test_one_client_comes_back(rule: object) -> None:
    """identity: to the last bit of float32, for beliefs over twelve orders of magnitude."""
    rng = np.random.default_rng(0)
    mean = (rng.normal(size=(50, 20)) * 10.0 ** rng.integers(-6, 4, (50, 20))).astype(np.float32)
    var = (10.0 ** rng.uniform(-8, 4, (50, 20))).astype(np.float32)
    one = SpikeSlab(rng.normal(size=50).astype(np.float32), on_host(mean, var, np.float32))
    back = rule([one], [1.0])  # type: ignore[operator]
    np.testing.assert_array_equal(back.slab.mean.astype(np.float32), mean)
    np.testing.assert_array_equal(back.slab.var.astype(np.float32), var)
    doubtful = geometric([SpikeSlab(one.logit, on_host(0 * mean, var))], [1.0])
    np.testing.assert_allclose(doubtful.logit, one.logit, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_clients_is_nothing_but_rounding(rule: object) -> None:
    """identity: a permutation of clients with their shares; copies of one client are that client."""
    straight = rule(CLIENTS, SHARES)  # type: ignore[operator]
    turned = rule(CLIENTS[::-1], SHARES[::-1])  # type: ignore[operator]
    copies = rule([CLIENTS[0]] * 3, SHARES)  # type: ignore[operator]
    for a, b in zip((turned.logit, *turned.slab), (straight.logit, *straight.slab), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    for a, b in zip((copies.logit, *copies.slab), (CLIENTS[0].logit, *CLIENTS[0].slab), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_certain_groups_stay_certain() -> None:
    """identity: log-odds that are infinite for all clients stay so; slabs are averaged all the same."""
    for certain in (np.inf, -np.inf):
        beliefs = [b._replace(logit=np.array([certain, *b.logit[1:]])) for b in CLIENTS]
        for rule in RULES:
            result, doubtful = rule(beliefs, SHARES), rule(CLIENTS, SHARES)
            assert result.logit[0] == certain and np.isfinite(result.slab).all()
            np.testing.assert_allclose(result.logit[1:], doubtful.logit[1:], rtol=1e-12)
        np.testing.assert_allclose(geometric(beliefs, SHARES).slab, geometric(CLIENTS, SHARES).slab, rtol=1e-12)


FINITE = st.floats(-1e6, 1e6, width=32)
POSITIVE = st.floats(2**-40, 2**40, width=32)
BELIEF = st.tuples(FINITE, st.lists(st.tuples(FINITE, POSITIVE), min_size=2, max_size=2))


@given(drawn=st.lists(BELIEF, min_size=1, max_size=5), rows=st.lists(st.integers(1, 10**6), min_size=5, max_size=5))
def test_finite_in_finite_out(drawn: list, rows: list[int]) -> None:
    """contract: finite beliefs give finite averages, variances positive, and precisions between the clients'."""
    beliefs = [
        SpikeSlab(np.array([odds]), on_host(*np.array(slabs, float).T[:, None, :].copy())) for odds, slabs in drawn
    ]
    shares = shares_of(rows[: len(beliefs)])
    np.testing.assert_allclose(sum(shares), 1, rtol=1e-12)
    variances = np.array([b.slab.var for b in beliefs])
    for rule in RULES:
        result = rule(beliefs, shares)
        assert np.isfinite(result.slab).all() and (result.slab.var > 0).all()
        assert not np.isnan(result.logit).any()
        if rule is geometric:
            assert np.isfinite(result.logit).all()
            assert (result.slab.var >= variances.min(0) * (1 - 1e-9)).all()
            assert (result.slab.var <= variances.max(0) * (1 + 1e-9)).all()
