"""The weighted geometric average (WGA) of the clients' posteriors: prod_k p_k^share_k, normalised.

Paper: eq. (ga); erratum E8. Precisions are averaged: the result is no sharper than the clients, who must each speak for
the whole federation (`Broadcast.n_rows`).
Oracle: quadrature of the product for single weights, enumeration of the supports for groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from .average import AverageRule, SpikeSlab
from .base import on_host, weighted_sum


class Geometric(AverageRule):
    """The rule "wga". The clients share their offsets, so that the averaged slabs' evidence gives the log-odds.

    So no client has a veto: one that is sure that a group is off moves the slabs by its share of the precision.
    """

    name: ClassVar[str] = "wga"
    is_natural_average: ClassVar[bool] = True
    keeps_offsets: ClassVar[bool] = True

    def combine(self, beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
        """See `geometric`."""
        return geometric(beliefs, shares)


class Natural(NamedTuple):
    """A spike-slab belief in natural parameters: a weighted geometric average is a weighted average of these.

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


def geometric(beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
    """prod_k p_k^share_k, normalised. Infinite log-odds mean that the group is not in question, for any client."""
    each = [natural(belief) for belief in beliefs]
    return spike_slab(Natural(*(weighted_sum(parts, shares) for parts in zip(*each, strict=True))))


def _log_norm(mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    """log of a slab's normaliser, but for log sqrt(2 pi), as `beliefs.log_norm`."""
    return 0.5 * (mean * (mean / var) + np.log(var))
