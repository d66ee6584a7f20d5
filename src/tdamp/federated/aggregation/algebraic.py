"""The weighted algebraic average (WAA) of the clients' posteriors: the mixture sum_k share_k p_k, as a spike-slab.

Paper: eq. (aa). Oracle: quadrature of the mixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from .average import AverageRule, SpikeSlab
from .base import on_host, weighted_sum


class Algebraic(AverageRule):
    """The rule "waa": its log-odds need offsets of their own."""

    name: ClassVar[str] = "waa"

    def combine(self, beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
        """See `algebraic`."""
        return algebraic(beliefs, shares)


def algebraic(beliefs: Sequence[SpikeSlab], shares: Sequence[float]) -> SpikeSlab:
    """The spike-slab with the moments of the mixture sum_k share_k p_k."""
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
