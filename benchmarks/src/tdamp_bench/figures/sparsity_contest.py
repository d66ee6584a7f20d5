"""tdamp against the baselines at every share of units, seed by seed: who wins by how many standard errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from rich.console import Console

from ..core.record import Verdict
from ..core.tables import grid
from .methods import NAMES, OURS, PAPERS, STRONG
from .paired import between, gap
from .publish import Conclusion
from .tidy import pick

SLACK = 1.01, 1.0
"""A network is as small as asked for up to this factor and this many units."""
TITLES = {"boston": "Boston housing", "mnist": "MNIST"}


def against_each(final: pd.DataFrame, variant: str = "tdamp") -> pd.DataFrame:
    """Every data set, share and baseline: both means, difference in standard errors, outcome, ratio theirs / ours.

    `final` is the last epoch of `tidy.table`; means and differences are over the seeds that both have.
    """
    rows = []
    units = final.groupby(["data", "keep", "method"])["units"].mean()
    for (data, keep), here in final.groupby(["data", "keep"], sort=False):
        there = list(dict.fromkeys(here["method"]))
        for rival in (name for name in there if name not in OURS):
            duel = between(here, data, keep, variant, rival)
            if duel is not None:
                small = is_small(units[data, keep, variant], units[data, keep].min())
                ratio = duel.theirs / duel.ours if duel.ours > 0 else np.nan
                won = duel.outcome if small else "larger"
                rows.append((data, keep, rival, duel.ours, duel.theirs, duel.in_se, won, ratio))
    return pd.DataFrame(rows, columns=["data", "keep", "baseline", "ours", "loss", "gap", "outcome", "ratio"])


def is_small(units: float, asked: float) -> bool:
    """Whether a network has no more units than were asked for, as the published rule may leave it with many more."""
    return bool(units <= SLACK[0] * asked + SLACK[1])


def against_the_best(each: pd.DataFrame) -> pd.DataFrame:
    """The rows of `against_each` whose baseline has the least mean of its data set and share."""
    return each.loc[each.groupby(["data", "keep"], sort=False)["loss"].idxmin()] if len(each) else each


def conclusions(final: pd.DataFrame, labels: Mapping[str, str], variant: str = "tdamp") -> list[Conclusion]:
    """The paper's claims against the paper's baselines, then ours against each of the stronger ones."""
    each = against_each(final, variant)
    concluded = _claims(final, each[each["baseline"].isin(PAPERS)], labels, variant, "the paper's baselines", "")
    for rival in STRONG:
        concluded += _claims(final, pick(each, baseline=rival), labels, variant, labels.get(rival, rival), f"{rival}-")
    return concluded


def _claims(
    final: pd.DataFrame, each: pd.DataFrame, labels: Mapping[str, str], variant: str, rivals: str, about: str
) -> list[Conclusion]:
    """For each data set: all pruned cells won, and the gap that widens."""
    concluded = []
    for data in each["data"].unique():
        title = f"{TITLES.get(data, data)}, {NAMES[variant]} against {rivals}"
        cells = pick(each, data=data)
        best, pruned = against_the_best(cells), cells[cells["keep"] < 1]
        if len(pruned):
            share = float((pruned["outcome"] == "win").mean())
            tied = share < 1 and bool(pruned["outcome"].isin(["win", "tie"]).all())
            verdict = Verdict(f"{title}: share of the pruned cells won", share, ">=", 1.0, tied)
            lost = [
                f"keep {row.keep:g} to {labels.get(row.baseline, row.baseline)}"
                for row in cells.itertuples()
                if row.outcome == "loss"
            ]
            parts = [f"{title}: {_counts(cells)}"]
            parts += [f"against the best of them at each share {_counts(best)}"] if len(best) < len(cells) else []
            parts += [f"lost: {', '.join(lost)}"] if lost else []
            concluded.append(Conclusion(verdict, f"{'; '.join(parts)}.", f"{about}compressed", variant))
        concluded += _widening(final, best, title, variant, about)
    return concluded


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


def _widening(final: pd.DataFrame, best: pd.DataFrame, title: str, variant: str, about: str) -> list[Conclusion]:
    """Slope of log(best baseline / ours) over log(keep), seed by seed: negative where the gap grows as units go."""
    best = best[np.isfinite(best["ratio"]) & (best["ratio"] > 0) & (best["outcome"] != "larger")].sort_values("keep")
    if len(best) < 2:
        return []
    ours, theirs = ([] for _ in range(2))
    for row in best.itertuples():
        here = pick(final, data=row.data, keep=row.keep).set_index(["method", "seed"])["loss"]
        ours.append(here[variant])
        theirs.append(here[row.baseline])
    both = [pd.concat(losses, axis=1, join="inner") for losses in (ours, theirs)]
    seeds = both[0].index.intersection(both[1].index)
    logs = [np.log(losses.loc[seeds].to_numpy()).T for losses in both]
    apart = gap(*(np.polyfit(np.log(best["keep"]), losses, 1)[0] for losses in logs[::-1]))
    few, many = best.iloc[0], best.iloc[-1]
    whose = "its" if about else "the best baseline's"
    return [
        Conclusion(
            apart.verdict(f"{title}: slope of log({whose} loss / ours) over log(keep) is negative"),
            f"{title}: {whose} loss is {many['ratio']:.3g} times ours at keep {many['keep']:g} "
            f"and {few['ratio']:.3g} times at keep {few['keep']:g}; slope {apart.text()}.",
            f"{about}gap",
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
