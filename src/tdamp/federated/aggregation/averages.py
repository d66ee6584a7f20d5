"""What a server makes of its clients' posteriors. Pure maths in NumPy: float64, sums in the order of the clients.

Density of a client: prod_g [ P_g prod_j N(w_j; mean_j, var_j) + (1 - P_g) prod_j delta(w_j) ], P_g = sigmoid(logit_g).
Paper: eq. (ga), (aa), (reg_v_fed), (sigmak_classification); erratum E8.
Oracle: quadrature of the product for single weights, enumeration of the supports for groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ...numerics.beliefs import Moments

LOGIT_BOUND = 20.0
"""A client's log-odds count up to this much: one that is sure a group is off must not veto all others for good."""


def on_host(mean: Any, var: Any, dtype: Any = np.float64) -> Moments:
    """Moments as NumPy arrays."""
    found: Any = Moments(np.asarray(mean, dtype), np.asarray(var, dtype))  # type: ignore[arg-type]
    return found


class SpikeSlab(NamedTuple):
    """A group's log-odds of being on, (groups,), and its slabs, (groups, size). Log-odds may be infinite: certain."""

    logit: np.ndarray
    slab: Moments


class Natural(NamedTuple):
    """The same belief in natural parameters: a weighted geometric average is a weighted average of these.

    `log_odds` is the logit with the slabs' normalisers taken off: with them, clients that disagree about a weight would
    be counted as if they agreed (erratum E8).
    """

    prec: np.ndarray
    shift: np.ndarray
    log_odds: np.ndarray


def natural(belief: SpikeSlab) -> Natural:
    """Natural parameters in float64, of slabs with positive variances."""
    mean, var = (np.asarray(part, np.float64) for part in belief.slab)
    return Natural(1 / var, mean / var, np.asarray(belief.logit, np.float64) - _log_norm(mean, var).sum(-1))


def spike_slab(natural: Natural) -> SpikeSlab:
    """The belief that has these natural parameters."""
    var = 1 / natural.prec
    mean = natural.shift * var
    return SpikeSlab(natural.log_odds + _log_norm(mean, var).sum(-1), on_host(mean, var))


def _log_norm(mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    """log of a slab's normaliser, but for log sqrt(2 pi), as `beliefs.log_norm`."""
    return 0.5 * (mean * (mean / var) + np.log(var))


def shares_of(rows: Sequence[float]) -> list[float]:
    """Each client's part of all rows."""
    total = sum(rows)
    return [float(count / total) for count in rows]


def weighted_sum(terms: Sequence[Any], shares: Sequence[float]) -> np.ndarray:
    """sum_k share_k term_k, in float64 and in the order given."""
    return reduce(np.add, [share * np.asarray(term, np.float64) for term, share in zip(terms, shares, strict=True)])


def geometric(beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
    """WGA: prod_k p_k^share_k, normalised. Paper: eq. (ga); erratum E8.

    Precisions are averaged: it is no sharper than its clients, who must each speak for the whole federation
    (`Broadcast.n_rows`). A client's log-odds count up to LOGIT_BOUND; infinite ones mean that no one asks.
    """
    each = [natural(belief._replace(logit=_bounded(belief.logit))) for belief in beliefs]
    return spike_slab(Natural(*(weighted_sum(parts, shares) for parts in zip(*each, strict=True))))


def algebraic(beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
    """WAA: the spike-slab with the moments of the mixture sum_k share_k p_k. Paper: eq. (aa)."""
    on = [np.exp(_log_sigmoid(np.asarray(belief.logit, np.float64))) for belief in beliefs]
    off = [np.exp(_log_sigmoid(-np.asarray(belief.logit, np.float64))) for belief in beliefs]
    prob = weighted_sum(on, shares)
    with np.errstate(divide="ignore"):
        logit = np.log(prob) - np.log(weighted_sum(off, shares))
    # where every client is sure that the group is off, its slabs count alike
    inside = [np.where(prob > 0, p, 1.0)[:, None] for p in on]
    total = weighted_sum(inside, shares)
    means = [np.asarray(belief.slab.mean, np.float64) for belief in beliefs]
    variances = [np.asarray(belief.slab.var, np.float64) for belief in beliefs]
    mean = weighted_sum([p * m for p, m in zip(inside, means, strict=True)], shares) / total
    spread = [p * (v + np.square(m - mean)) for p, m, v in zip(inside, means, variances, strict=True)]
    return SpikeSlab(logit, on_host(mean, weighted_sum(spread, shares) / total))


def _log_sigmoid(logit: np.ndarray) -> np.ndarray:
    return -np.logaddexp(0.0, -logit)


def _bounded(logit: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(logit), logit, np.clip(logit, -LOGIT_BOUND, LOGIT_BOUND))
