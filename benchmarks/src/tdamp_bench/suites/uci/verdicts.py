"""What tdamp's means must reach, beside the published figures and the ensembles trained here."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isnan
from typing import Any

from ...core.record import Verdict
from ...figures.paired import Gap, gap
from .methods import METHODS
from .published import PUBLISHED, best
from .scores import summary
from .store import Runs

LARGE = 1000
"""Tables of more rows than this must be covered more exactly: their test rows are many."""
ENSEMBLES = ("ensemble", "ensemble_adamw")
COVERAGE = {True: (0.93, 0.97), False: (0.90, 0.98)}
"""Bounds for the mean coverage of 95 % intervals, for large tables and for small ones."""


def verdicts(runs: Runs, rows: Mapping[str, int]) -> list[Verdict]:
    """Of the tables that tdamp has run on; `rows` are those of each table."""
    means = {name: summary(runs[name]["tdamp"]["splits"])["mean"] for name in runs if "tdamp" in runs[name]}
    if not means:
        return []
    judged = _against_pbp(means)
    for key, least in (("rmse", 4), ("nll", 3)):
        below = sum(mean[key] < best(name, key) for name, mean in means.items())
        claim = f"Tables, of {len(means)}, with {key.upper()} below the best of the three published"
        judged.append(Verdict(claim, below, ">=", least))
    return judged + _coverage(means, rows) + [one for rival in ENSEMBLES for one in _against_ensemble(runs, rival)]


def _against_pbp(means: Mapping[str, Any]) -> list[Verdict]:
    """The ratio of the RMSE where it is largest, and the difference of the NLL."""
    ratio, where = max((mean["rmse"] / PUBLISHED[name]["pbp"].rmse, name) for name, mean in means.items())
    more, there = max((mean["nll"] - PUBLISHED[name]["pbp"].nll, name) for name, mean in means.items())
    return [
        Verdict(f"RMSE / PBP's, the worst of {len(means)} tables ({where})", ratio, "<=", 1.0),
        Verdict(f"NLL - PBP's, the worst of {len(means)} tables ({there})", more, "<=", 0.0),
    ]


def _coverage(means: Mapping[str, Any], rows: Mapping[str, int]) -> list[Verdict]:
    judged = []
    for name, mean in means.items():
        low, high = COVERAGE[rows[name] > LARGE]
        judged.append(Verdict(f"Coverage of 95 % intervals, {name}, at least", mean["coverage"], ">=", low))
        judged.append(Verdict(f"Coverage of 95 % intervals, {name}, at most", mean["coverage"], "<=", high))
    return judged


def _against_ensemble(runs: Runs, rival: str) -> list[Verdict]:
    """The table where tdamp compares worst, split by split on those that both have run."""
    gaps: dict[str, list[tuple[float, str, Gap]]] = {"rmse": [], "nll": []}
    for name, methods in runs.items():
        ours, theirs = (methods.get(method, {"splits": {}})["splits"] for method in ("tdamp", rival))
        both = [split for split in ours if split in theirs]
        for key, duels in gaps.items() if both else ():
            one = gap(*([float(of[split][key]) for split in both] for of in (ours, theirs)))
            duels.append((inf if isnan(one.in_se) else one.in_se, name, one))
    label = METHODS[rival].label
    return [
        worst.verdict(f"{key.upper()} is below that of the {label} run here, worst of {len(duels)} tables ({where})")
        for key, duels in gaps.items()
        if duels
        for _, where, worst in [max(duels, key=lambda each: each[0])]
    ]
