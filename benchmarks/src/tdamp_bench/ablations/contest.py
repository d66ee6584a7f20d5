"""How the ablations' arms are compared, seed by seed, and what is concluded over the data sets."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.record import Verdict
from ..figures.paired import CLEAR, Gap, between, last_epoch

__all__ = ["CLEAR", "Gap", "between", "last_epoch", "verdict_word"]


def verdict_word(verdicts: Sequence[Verdict]) -> str:
    """confirmed, partly confirmed, tied or not confirmed."""
    if verdicts and all(one.met for one in verdicts):
        return "confirmed"
    if any(one.met for one in verdicts):
        return "partly confirmed"
    return "tied" if verdicts and all(one.tied for one in verdicts) else "not confirmed"
