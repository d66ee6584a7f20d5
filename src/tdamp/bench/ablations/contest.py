"""Two arms against each other: runs of one seed share data, start and order, so they are compared seed by seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..figures.tidy import pick

CLEAR = 1.0
"""Standard errors that tell a difference from none."""
ROUNDING = 1e-5
"""Losses are stored to six digits: a standard error below this share of the difference is none."""


class Gap(NamedTuple):
    """Mean losses, and their difference (ours - theirs) with its standard error over the seeds both have."""

    ours: float
    theirs: float
    difference: float
    se: float

    @property
    def in_se(self) -> float:
        """The difference in standard errors; NaN where the error is unknown."""
        if np.isinf(self.difference) or self.difference == 0:
            return self.difference
        if self.se <= ROUNDING * abs(self.difference):
            return float(np.sign(self.difference)) * np.inf
        return self.difference / self.se

    @property
    def word(self) -> str:
        """How ours compares."""
        gap = self.in_se
        if np.isnan(gap):
            return "not decided against"
        return "better than" if gap < -CLEAR else "worse than" if gap > CLEAR else "no different from"


def last_epoch(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of `tidy.table` that are a run's last."""
    return runs[runs["epoch"] == runs.groupby(["data", "method", "keep"])["epoch"].transform("max")]


def between(final: pd.DataFrame, data: str, keep: float, ours: str, theirs: str) -> Gap | None:
    """Ours against theirs after the last epoch; None where one of them has no run."""
    both = [pick(final, data=data, keep=keep, method=name).set_index("seed")["loss"] for name in (ours, theirs)]
    seeds = both[0].index.intersection(both[1].index)
    if not len(seeds):
        return None
    a, b = (losses[seeds].to_numpy(float) for losses in both)
    with np.errstate(invalid="ignore"):
        apart = np.where(a == b, 0.0, a - b)  # two that diverged are equal
    known = len(apart) > 1 and np.isfinite(apart).all()
    se = float(apart.std(ddof=1) / np.sqrt(len(apart))) if known else np.nan
    return Gap(float(a.mean()), float(b.mean()), float(apart.mean()), se)


def verdict_word(held: list[bool]) -> str:
    """confirmed, partly confirmed or not confirmed."""
    return "confirmed" if held and all(held) else "partly confirmed" if any(held) else "not confirmed"
