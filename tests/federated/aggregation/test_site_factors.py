"""site_factors: on conjugate models the factors' fixed point is the exact posterior, and each may be taken out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest

from oracles import loops
from tdamp.federated.aggregation.average import SpikeSlab
from tdamp.federated.aggregation.base import on_host
from tdamp.federated.aggregation.geometric import geometric
from tdamp.federated.aggregation.site_factors import FLOOR, Factors, Site, begin, cavity, forgotten, n_floored, update
from tdamp.numerics.beliefs import Moments

BASE_PREC = 2.0
CLIENTS = 5
NOISE_VAR = 0.1


class Rows:
    """y = x w + noise, cut among the clients. Each learns as the engine does: exact mean, diagonal precision."""

    def __init__(self, correlation: float, weights: int, rows: int = 12) -> None:
        rng = np.random.default_rng(0)
        common = rng.normal(size=(CLIENTS * rows, 1))
        x = np.sqrt(1 - correlation) * rng.normal(size=(CLIENTS * rows, weights)) + np.sqrt(correlation) * common
        if correlation == 0:
            for part in np.split(x, CLIENTS):  # orthogonal columns: the weights' posterior is exactly diagonal
                part[:] = np.linalg.qr(part)[0] * np.sqrt(rows) * rng.uniform(0.5, 2, weights)
        y = x @ rng.normal(size=weights) + np.sqrt(NOISE_VAR) * rng.normal(size=CLIENTS * rows)
        self.x, self.y = np.split(x, CLIENTS), np.split(y, CLIENTS)
        self.start = on_host(rng.normal(size=weights), np.full(weights, 0.3))

    def exact(self, clients: Iterable[int]) -> Moments:
        """Mean of the exact posterior given these clients' rows; variance with the other weights known."""
        x, y = (np.concatenate([part[k] for k in clients]) for part in (self.x, self.y))
        mean, _ = loops.ridge(x, y, np.full(x.shape[1], 1 / BASE_PREC), NOISE_VAR)
        return on_host(mean, 1 / (BASE_PREC + np.square(x).sum(0) / NOISE_VAR))

    def learn(self, k: int, anchor: Moments, power: float) -> Moments:
        """A client's posterior from anchor x likelihood^power."""
        gram = power * self.x[k].T @ self.x[k] / NOISE_VAR
        gradient = power * self.x[k].T @ (self.y[k] - self.x[k] @ anchor.mean) / NOISE_VAR
        mean = anchor.mean + np.linalg.solve(np.diag(1 / anchor.var) + gram, gradient)
        return on_host(mean, 1 / (1 / anchor.var + np.diag(gram)))

    def begin(self, clients: int = CLIENTS) -> Factors:
        shares = dict.fromkeys(range(clients), 1 / clients)
        return Factors(self.start, BASE_PREC, begin(self.start.mean, BASE_PREC, shares))

    def round(
        self, factors: Factors, clients: Iterable[int], power: float = 1.0, step: float = 1.0, forget: float = 0.0
    ) -> Factors:
        anchors = {k: cavity(factors, k, power) for k in clients}
        learned = {k: self.learn(k, anchor, power) for k, anchor in anchors.items()}
        shares = dict.fromkeys(range(CLIENTS), 1 / CLIENTS)
        return update(factors, anchors, learned, dict.fromkeys(anchors, power), shares, step, forget)


ALONE = Rows(correlation=0.0, weights=3)
TANGLED = Rows(correlation=0.6, weights=12, rows=40)


def assert_close(actual: Moments, exact: Moments, rtol: float = 1e-7) -> None:
    """Means and variances agree."""
    for a, b in zip(actual, exact, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "power"),
    [(ALONE, 1.0), (ALONE, 2.5), (ALONE, 5.0), (TANGLED, 1.0), (TANGLED, 2.5), (TANGLED, 5.0)],
    ids=["diagonal 1", "diagonal 2.5", "diagonal 5", "correlated 1", "correlated 2.5", "correlated 5"],
)
def test_the_fixed_point_is_the_posterior(model: Rows, power: float) -> None:
    """identity: every datum counts once, whatever the power and the start; ridge regression gives the mean."""
    factors = model.begin()
    for _ in range(500):
        factors = model.round(factors, range(CLIENTS), power)
    assert_close(factors.posterior, model.exact(range(CLIENTS)))
    again = model.round(factors, range(CLIENTS), power)
    assert_close(again.posterior, factors.posterior, rtol=1e-8)


@pytest.mark.parametrize("forget", [0.0, 0.3, 1.0])
def test_sites_add_up_to_the_posterior(forget: float) -> None:
    """identity: base prior and sites, multiplied, have the posterior's precision and no slope left at its mean."""
    factors = TANGLED.begin()
    for clients in (range(CLIENTS), [0, 3], [1], [2, 4]):
        factors = TANGLED.round(factors, clients, forget=forget)
        prec = BASE_PREC + sum(site.prec for site in factors.sites.values())
        slope = sum(site.slope for site in factors.sites.values()) - BASE_PREC * factors.posterior.mean
        np.testing.assert_allclose(1 / factors.posterior.var, prec, rtol=1e-12)
        np.testing.assert_allclose(slope, 0, atol=1e-9)


def test_some_clients_a_round_reach_the_same() -> None:
    """identity: two random clients of five in every round, the fixed point is still everyone's posterior."""
    rng = np.random.default_rng(0)
    for model in (ALONE, TANGLED):
        factors = model.begin()
        for _ in range(600):
            factors = model.round(factors, rng.choice(CLIENTS, 2, replace=False).tolist())
        assert_close(factors.posterior, model.exact(range(CLIENTS)))


def test_who_is_away_keeps_its_say() -> None:
    """identity: clients 0 to 3 learned long ago; training client 4 alone adds its rows and forgets no one's."""
    factors = ALONE.begin()
    for _ in range(100):
        factors = ALONE.round(factors, range(4))
    for _ in range(100):
        factors = ALONE.round(factors, [4])
    assert_close(factors.posterior, ALONE.exact(range(CLIENTS)))


def test_a_client_may_be_divided_out() -> None:
    """identity: the cavity at power 1 is the posterior of the others, as if the client had never been there."""
    factors = ALONE.begin()
    for _ in range(100):
        factors = ALONE.round(factors, range(CLIENTS))
    for k in range(CLIENTS):
        assert_close(cavity(factors, k, 1.0), ALONE.exact([j for j in range(CLIENTS) if j != k]))


def test_a_client_may_join_late() -> None:
    """identity: a client without a site is anchored to the whole posterior, and gets one with its first reply."""
    newcomer = CLIENTS - 1
    factors = ALONE.begin(clients=newcomer)
    for _ in range(100):
        factors = ALONE.round(factors, range(newcomer))
    assert_close(cavity(factors, newcomer, 1.0), factors.posterior, rtol=1e-12)
    for _ in range(100):
        factors = ALONE.round(factors, range(CLIENTS))
    assert newcomer in factors.sites
    assert_close(factors.posterior, ALONE.exact(range(CLIENTS)))


def test_forgetting_goes_from_what_clients_said_to_what_all_say() -> None:
    """identity: a part of the way to the client's share of the sum, which stays; precisions are left alone."""
    rng = np.random.default_rng(0)
    sites = {k: Site(*rng.normal(size=(2, 3))) for k in (0, 2, 5)}
    shares = {0: 0.2, 2: 0.5, 5: 0.1, 7: 0.2}  # client 7 has no site yet
    whole = sum(site.slope for site in sites.values())
    for part in (0.0, 0.25, 1.0):
        result = forgotten(sites, shares, part)
        np.testing.assert_allclose(sum(site.slope for site in result.values()), whole, rtol=1e-12)
        for k, site in result.items():
            alike = shares[k] / 0.8 * whole
            np.testing.assert_allclose(site.slope, (1 - part) * sites[k].slope + part * alike, rtol=1e-12)
            np.testing.assert_array_equal(site.prec, sites[k].prec)


def test_forgetting_stays_nearer_than_averages() -> None:
    """rate: a fifth forgotten in each round costs correlated clients a quarter of what forgetting all costs."""
    exact, actual = TANGLED.exact(range(CLIENTS)).mean, {}
    for forget in (0.2, 1.0):
        factors = TANGLED.begin()
        for _ in range(100):
            factors = TANGLED.round(factors, range(CLIENTS), float(CLIENTS), forget=forget)
        actual[forget] = np.abs(factors.posterior.mean - exact).max()
    assert actual[0.2] < 0.3 * actual[1.0] < 0.03 * np.abs(exact).max()


def distances(model: Rows, step: float, rounds: int) -> list[float]:
    """From the exact mean, round by round."""
    factors, result = model.begin(), []
    for _ in range(rounds):
        factors = model.round(factors, range(CLIENTS), step=step)
        result.append(float(np.abs(factors.posterior.mean - model.exact(range(CLIENTS)).mean).max()))
    return result


def test_the_naive_sum_of_moves_diverges() -> None:
    """rate: with step = number of clients nothing is damped: correlated weights overshoot round by round; ours do not.

    Without correlation the naive sum is exact after one round, so it is the correlation that breaks it.
    """
    naive, ours = distances(TANGLED, CLIENTS, 12), distances(TANGLED, 1.0, 60)
    assert naive[-1] > 100 * naive[0] and all(b > 1.5 * a for a, b in pairwise(naive[5:]))
    assert ours[-1] < 0.02 * ours[0] and all(b < a for a, b in pairwise(ours))
    assert distances(ALONE, CLIENTS, 2)[-1] < 1e-9


def test_no_step_goes_beyond_the_sum_of_moves() -> None:
    """contract: however large the step, slopes grow by the clients' whole pulls at most: the mean by their sum."""
    factors = TANGLED.begin()
    learned = [TANGLED.learn(k, cavity(factors, k, 1.0), 1.0) for k in range(CLIENTS)]
    pull = sum((post.mean - factors.posterior.mean) / post.var for post in learned)
    result = TANGLED.round(factors, range(CLIENTS), step=100.0).posterior
    np.testing.assert_allclose(result.mean, factors.posterior.mean + pull * result.var, rtol=1e-12)


def test_alike_sites_give_the_geometric_average() -> None:
    """identity: with power = 1 / share and one likelihood for all, a round equals WGA of the clients' posteriors."""
    twins = Rows(correlation=0.0, weights=3)
    twins.x, twins.y = [twins.x[0]] * CLIENTS, [twins.y[0]] * CLIENTS
    power = float(CLIENTS)
    factors = twins.begin()
    anchors = {k: cavity(factors, k, power) for k in range(CLIENTS)}
    learned = {k: twins.learn(k, anchor, power) for k, anchor in anchors.items()}
    result = twins.round(factors, range(CLIENTS), power).posterior
    slabs = [on_host(post.mean[:, None], post.var[:, None]) for post in learned.values()]
    beliefs = [SpikeSlab(np.full(3, np.inf), slab) for slab in slabs]
    average = geometric(beliefs, [1 / CLIENTS] * CLIENTS).slab
    np.testing.assert_allclose(result.mean, average.mean[:, 0], rtol=1e-10)


def test_a_cavity_never_loses_its_precision() -> None:
    """contract: a power that would take off more than there is leaves FLOOR of the posterior's, and the slope."""
    factors = ALONE.begin()
    for _ in range(20):
        factors = ALONE.round(factors, range(CLIENTS))
    lowest = cavity(factors, 0, 1e6)
    np.testing.assert_allclose(1 / lowest.var, FLOOR / factors.posterior.var, rtol=1e-12)
    slope = (lowest.mean - factors.posterior.mean) / lowest.var
    np.testing.assert_allclose(slope, -1e6 * factors.sites[0].slope, rtol=1e-12)
    assert (n_floored(factors, lowest), n_floored(factors, cavity(factors, 0, 1.0))) == (3, 0)
