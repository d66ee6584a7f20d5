"""tdamp against the baselines at every share of units: who wins by how many standard errors, and by what ratio."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from rich.console import Console

from ..record import Verdict
from ..tables import grid
from .methods import NAMES, OURS
from .publish import Finding
from .tidy import pick

COMPRESSED = 0.5
"""Shares up to this one count as compressed."""
CLEAR = 1.0
"""Standard errors that tell a win or a loss from a tie."""
SLACK = 1.01, 1.0
"""A network is as small as asked for up to this factor and this many units."""
TITLES = {"boston": "Boston housing", "mnist": "MNIST"}


def against_each(points: pd.DataFrame, variant: str = "tdamp") -> pd.DataFrame:
    """Every data set, share and baseline: both means, difference in standard errors, outcome, ratio theirs / ours."""
    rows = []
    for _, ours in pick(points, method=variant).iterrows():
        rivals = pick(points, data=ours["data"], keep=ours["keep"])
        for _, theirs in rivals[~rivals["method"].isin(OURS)].iterrows():
            gap = standard_errors_apart(ours["mean"], ours["se"], theirs["mean"], theirs["se"])
            won = outcome(gap) if is_small(ours["units"], rivals["units"].min()) else "larger"
            ratio = theirs["mean"] / ours["mean"] if ours["mean"] > 0 else np.nan
            rows.append((ours["data"], ours["keep"], theirs["method"], ours["mean"], theirs["mean"], gap, won, ratio))
    return pd.DataFrame(rows, columns=["data", "keep", "baseline", "ours", "loss", "gap", "outcome", "ratio"])


def is_small(units: float, asked: float) -> bool:
    """Whether a network has no more units than were asked for, as the published rule may leave it with many more."""
    return bool(units <= SLACK[0] * asked + SLACK[1])


def against_the_best(each: pd.DataFrame) -> pd.DataFrame:
    """The rows of `against_each` whose baseline has the least mean of its data set and share."""
    return each.loc[each.groupby(["data", "keep"], sort=False)["loss"].idxmin()] if len(each) else each


def standard_errors_apart(mean: float, se: float, other: float, other_se: float) -> float:
    """(mean - other) / sqrt(se^2 + other_se^2); infinite if one of them diverged, NaN if an error is unknown."""
    if np.isinf(mean) or np.isinf(other):
        return np.nan if mean == other else float(np.sign(mean - other)) * np.inf
    spread = np.hypot(se, other_se)
    if spread == 0:
        return 0.0 if mean == other else float(np.sign(mean - other)) * np.inf
    return float((mean - other) / spread)


def outcome(gap: float) -> str:
    """Of a difference in standard errors, seen from tdamp."""
    if np.isnan(gap):
        return "unknown"
    return "win" if gap < -CLEAR else "loss" if gap > CLEAR else "tie"


def findings(each: pd.DataFrame, labels: Mapping[str, str], variant: str = "tdamp") -> list[Finding]:
    """Compressed cells won at least half, no cell lost, and the gap that widens, for each data set."""
    found = []
    best = against_the_best(each)
    for data in best["data"].unique():
        title = f"{TITLES.get(data, data)}, {NAMES[variant]}"
        here, cells = pick(best, data=data), pick(each, data=data)
        compressed = cells[cells["keep"] <= COMPRESSED]
        if len(compressed):
            share = float((compressed["outcome"] == "win").mean())
            verdict = Verdict(f"{title}: cells with keep <= {COMPRESSED:g} won by more than a s.e.", share, ">=", 0.5)
            sentence = (
                f"{title}: against every baseline {_counts(cells)}, {share:.0%} of those with at most half of the "
                f"units won; against the best baseline at each share {_counts(here)}."
            )
            found.append(Finding(verdict, sentence, "compressed", variant))
        lost = [
            f"keep {row.keep:g} to {labels.get(row.baseline, row.baseline)}"
            for row in cells.itertuples()
            if row.outcome == "loss"
        ]
        verdict = Verdict(f"{title}: cells lost by more than a s.e.", float(len(lost)), "<=", 0.0)
        found.append(Finding(verdict, f"{title}: lost cells: {'; '.join(lost) or 'none'}.", "compressed", variant))
        found += _widening(here, title, variant)
    return found


def _counts(cells: pd.DataFrame) -> str:
    counts = cells["outcome"].value_counts()
    words = {
        "win": "won",
        "tie": "tied",
        "loss": "lost",
        "unknown": "undecided",
        "larger": "not comparable (too many units left)",
    }
    return ", ".join(f"{counts[word]} {past}" for word, past in words.items() if word in counts)


def _widening(here: pd.DataFrame, title: str, variant: str) -> list[Finding]:
    """Slope of log(best baseline / ours) over log(keep): negative where the gap grows as units go."""
    here = here[np.isfinite(here["ratio"]) & (here["ratio"] > 0) & (here["outcome"] != "larger")].sort_values("keep")
    if len(here) < 2:
        return []
    slope = float(np.polyfit(np.log(here["keep"]), np.log(here["ratio"]), 1)[0])
    verdict = Verdict(f"{title}: slope of log(best baseline / ours) over log(keep)", slope, "<", 0.0)
    few, many = here.iloc[0], here.iloc[-1]
    return [
        Finding(
            verdict,
            f"{title}: the best baseline's loss is {many['ratio']:.3g} times ours at keep {many['keep']:g} "
            f"and {few['ratio']:.3g} times at keep {few['keep']:g}.",
            "gap",
            variant,
        )
    ]


def show(console: Console, each: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """For each data set and share: the ratio to tdamp's loss and the difference, of every baseline and the best."""
    contest = against_the_best(each)
    for data in contest["data"].unique():
        here, best = pick(each, data=data), pick(contest, data=data)
        keeps = sorted(best["keep"].unique(), reverse=True)
        lines = {labels.get(name, name): pick(here, baseline=name) for name in here["baseline"].unique()}
        lines["best baseline"] = best
        for column, what, form in (
            ("ratio", "loss of the baseline / loss of tdamp", "{:.2f}"),
            ("gap", "loss of tdamp - loss of the baseline, in standard errors", "{:+.1f}"),
        ):
            rows = [[label, *(_cell(line, keep, column, form) for keep in keeps)] for label, line in lines.items()]
            title = f"{TITLES.get(data, data)}: {what}"
            console.print(grid(title, ["share of units", *(f"{keep:g}" for keep in keeps)], rows))


def _cell(line: pd.DataFrame, keep: float, column: str, form: str) -> str:
    here = pick(line, keep=keep)
    return form.format(here[column].item()) if len(here) else "-"
