"""A factor of the posterior for every client: each one's data count once, whoever else takes part.

q(w) = p0(w) prod_k t_k(w): partitioned variational inference, Ashman et al., 2022; with powers, Minka, 2004. In a round
client k is anchored to the cavity q / t_k^power, its data counting power times, and its new site is
(posterior / cavity)^(1/power). With power 1 this is PVI; with 1 / share_k, every client speaking for the whole
federation, it is the weighted geometric average, if all clients' sites are alike. A site is kept as its slope and
curvature at the server's mean, exp(slope (w - mean) - prec (w - mean)^2 / 2), so that recentring leaves it alone.

Damping. Precisions are sums of sites and need none. Summing the clients' moves overshoots by up to the number of
clients where weights are correlated, as every client alone already goes most of the way; so slopes are damped, weight
by weight, just so far that the mean moves by `step` times the clients' average move.

Forgetting. Clients that differ never quite agree on a network: their slopes grow round by round, though the sum of them
does not, and the error with them. So after each round every slope goes the part `forget` of the way to the client's
share of that sum. With 0 the fixed point is exact; with 1 no client's slope remembers a round before the last.
Not guaranteed: convergence; seen on correlated least squares, and on MNIST with few classes a client.
Oracle: the fixed point is the exact posterior of a conjugate model; a client's site may be divided out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...numerics.beliefs import Moments
from .base import on_host, weighted_sum

FLOOR = 0.5
"""A cavity has at least this part of the posterior's precision, whatever the powers of a site take away. Its slope at
the server's mean stays, and with it the fixed point. With 0.3, correlated least squares diverged."""


class Site(NamedTuple):
    """One client's factor, as slope and curvature at the server's mean."""

    prec: np.ndarray
    slope: np.ndarray


class Factors(NamedTuple):
    """The posterior of some weights with its factors; `base_prec` is the base prior's precision."""

    posterior: Moments
    base_prec: float
    sites: dict[int, Site]


def cavity(factors: Factors, client: int, power: float) -> Moments:
    """What a client is anchored to: all that the others know, with `power` times its own site taken off."""
    mean, var = (np.asarray(part, np.float64) for part in factors.posterior)
    site = factors.sites.get(client)
    if site is None:
        return on_host(mean, var)
    prec = np.maximum(1 / var - power * site.prec, FLOOR / var)
    return on_host(mean - power * site.slope / prec, 1 / prec)


def n_floored(factors: Factors, cavity: Moments) -> int:
    """Weights whose cavity stands at its floor."""
    return int((np.asarray(factors.posterior.var, np.float64) / cavity.var <= FLOOR * (1 + 1e-9)).sum())


def begin(mean: Any, base_prec: float, shares: Mapping[int, float]) -> dict[int, Site]:
    """Sites before any data: they hold the random start in place, against the base prior's pull."""
    start = base_prec * np.asarray(mean, np.float64)
    return {client: Site(np.zeros_like(start), share * start) for client, share in shares.items()}


def update(
    factors: Factors,
    cavities: Mapping[int, Moments],
    learned: Mapping[int, Moments],
    powers: Mapping[int, float],
    shares: Mapping[int, float],
    step: float,
    forget: float,
) -> Factors:
    """The factors after a round: `learned` are the posteriors of the clients that replied, `cavities` their anchors.

    `shares` are the clients' shares of the rows.
    """
    mean = np.asarray(factors.posterior.mean, np.float64)
    posts = {k: on_host(*post) for k, post in learned.items()}
    sites = dict(factors.sites)
    pulls = {}
    for k, post in posts.items():
        prec = 1 / post.var
        old = sites.get(k, Site(np.zeros_like(mean), np.zeros_like(mean)))
        new_prec = np.maximum(prec - 1 / cavities[k].var, 0.0) / powers[k]
        sites[k] = Site(new_prec, old.slope)
        pulls[k] = prec * (post.mean - mean) / powers[k]
    total = factors.base_prec + sum(site.prec for site in sites.values())
    size = weighted_sum([1 / posts[k].var for k in posts], [1 / powers[k] for k in posts])
    damping = np.minimum(step * total / size, 1.0)
    for k, pull in pulls.items():
        sites[k] = Site(sites[k].prec, sites[k].slope + damping * pull)
    moved = mean + damping * sum(pulls.values()) / total
    sites = {k: Site(site.prec, site.slope - site.prec * (moved - mean)) for k, site in sites.items()}
    return Factors(on_host(moved, 1 / total), factors.base_prec, forgotten(sites, shares, forget))


def forgotten(sites: Mapping[int, Site], shares: Mapping[int, float], part: float) -> dict[int, Site]:
    """Sites whose slopes have gone a part of the way to what they would be if clients were alike; their sum stays."""
    mean = weighted_sum([site.slope for site in sites.values()], [1.0] * len(sites)) / sum(shares[k] for k in sites)
    return {k: Site(site.prec, site.slope + part * (shares[k] * mean - site.slope)) for k, site in sites.items()}
