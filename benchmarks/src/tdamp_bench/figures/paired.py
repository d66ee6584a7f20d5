"""Two methods against each other, seed by seed: runs of one seed share their split, arms of one method their start too.

A difference counts where it is more than two standard errors; up to there the two are tied, whichever mean is lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.record import Verdict
from .tidy import pick

CLEAR = 2.0
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
    def outcome(self) -> str:
        """win, tie or loss, seen from ours; unknown where the error is."""
        gap = self.in_se
        if np.isnan(gap):
            return "unknown"
        return "win" if gap < -CLEAR else "loss" if gap > CLEAR else "tie"

    @property
    def word(self) -> str:
        """How ours compares."""
        words = {"win": "better than", "loss": "worse than", "tie": "tied with", "unknown": "not decided against"}
        return words[self.outcome]

    def text(self, scale: float = 1.0, unit: str = "") -> str:
        """The difference, with its standard error where that is known."""
        error = f" ± {scale * self.se:.2g}" if np.isfinite(self.se) else ""
        return f"{scale * self.difference:+.2g}{error}{unit}"

    def verdict(self, claim: str) -> Verdict:
        """The claim that ours is lower: it holds for a win, and is tied for a tie."""
        return Verdict(f"{claim}, difference in standard errors", self.in_se, "<", -CLEAR, self.outcome == "tie")


def gap(ours: Sequence[float] | np.ndarray, theirs: Sequence[float] | np.ndarray) -> Gap:
    """Of losses in the same order of seeds. One pair has no error; two that are both infinite are equal.

    Oracle: scipy.stats.ttest_rel, whose statistic is the difference in standard errors.
    """
    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    if a.shape != b.shape or not a.size:
        raise ValueError(f"losses of {len(a)} and {len(b)} seeds: pairs of the same seeds are needed")
    with np.errstate(invalid="ignore"):
        apart = np.where(a == b, 0.0, a - b)
    known = len(apart) > 1 and np.isfinite(apart).all()
    se = float(apart.std(ddof=1) / np.sqrt(len(apart))) if known else np.nan
    return Gap(float(a.mean()), float(b.mean()), float(apart.mean()), se)


def last_epoch(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of `tidy.table` that are a run's last."""
    return runs[runs["epoch"] == runs.groupby(["data", "method", "keep"])["epoch"].transform("max")]


def between(final: pd.DataFrame, data: str, keep: float, ours: str, theirs: str) -> Gap | None:
    """Ours against theirs after the last epoch, over the seeds that both have; None where there are none."""
    both = [pick(final, data=data, keep=keep, method=name).set_index("seed")["loss"] for name in (ours, theirs)]
    seeds = both[0].index.intersection(both[1].index)
    return gap(both[0][seeds].to_numpy(), both[1][seeds].to_numpy()) if len(seeds) else None
