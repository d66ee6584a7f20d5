"""Verdicts of the sparsity figure, from numbers made by hand."""

import io
import math
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

from tdamp_bench.figures import sparsity_contest, tidy


def final(rows: list[tuple], units: dict[tuple, int] | None = None) -> pd.DataFrame:
    """Last epochs from (data, method, keep, losses by seed)."""
    full = [
        (data, method, keep, 30, seed, loss, (units or {}).get((method, keep), 10))
        for data, method, keep, losses in rows
        for seed, loss in enumerate(losses)
    ]
    return pd.DataFrame(full, columns=tidy.COLUMNS)


SHARES = [
    ("mnist", "tdamp", 1.0, [2.0, 2.1, 1.9]),
    ("mnist", "adam", 1.0, [2.2, 1.9, 2.2]),  # ahead twice, behind once: a tie
    ("mnist", "amp", 1.0, [9.0, 9.1, 8.9]),
    ("mnist", "tdamp_paper", 1.0, [0.1, 0.1, 0.1]),  # ours, so no baseline
    ("mnist", "tdamp", 0.5, [3.0, 3.1, 2.9]),
    ("mnist", "adam", 0.5, [6.0, 6.2, 5.8]),  # a win
    ("mnist", "amp", 0.5, [math.inf] * 3),
    ("mnist", "magnitude", 0.5, [2.0, 2.2, 1.8]),  # none of the paper's
    ("mnist", "tdamp", 0.1, [5.0, 5.1, 4.9]),
    ("mnist", "adam", 0.1, [20.0, 20.1, 19.9]),
    ("mnist", "amp", 0.1, [4.0, 4.1, 3.8]),  # a loss
]


def test_sparsity_contest_by_hand():
    """identity: gaps, outcomes and ratios of three shares; the best baseline is not always the same one."""
    each = sparsity_contest.against_each(final(SHARES))
    papers = each[each["baseline"] != "magnitude"]
    best = sparsity_contest.against_the_best(papers)
    assert best["outcome"].tolist() == ["tie", "win", "loss"] and best["baseline"].tolist() == ["adam", "adam", "amp"]
    expected = stats.ttest_rel([2.0, 2.1, 1.9], [2.2, 1.9, 2.2]).statistic
    assert best["gap"].tolist()[0] == pytest.approx(expected)
    np.testing.assert_allclose(best["ratio"], [2.1 / 2.0, 2.0, 11.9 / 15.0])
    assert len(each) == 7 and each[each["loss"] == math.inf]["outcome"].tolist() == ["win"]
    console = Console(file=io.StringIO(), width=160)
    sparsity_contest.show(console, papers, {"amp": "AMP"})
    last = [re.findall(r"[+-]?\d+\.\d+", line) for line in console.file.getvalue().splitlines() if "best base" in line]
    assert last[0] == ["1.05", "2.00", "0.79"]


def test_claims_of_the_paper_and_ours_are_judged_apart():
    """contract: 3 of 4 pruned cells won, one lost; the slope seed by seed; magnitude pruning has its own verdict."""
    pruned, gap, magnitude = sparsity_contest.conclusions(final(SHARES), {"amp": "AMP"})
    assert [one.claim for one in (pruned, gap, magnitude)] == ["compressed", "gap", "magnitude-compressed"]
    assert pruned.verdict.value == 0.75 and not pruned.verdict.met and not pruned.verdict.tied
    assert "4 won, 1 tied, 1 lost" in pruned.sentence and "lost: keep 0.1 to AMP" in pruned.sentence
    slopes = [
        np.polyfit(np.log([1.0, 0.5, 0.1]), np.log(np.divide(theirs, ours)), 1)[0]
        for ours, theirs in zip(
            zip(*(SHARES[i][3] for i in (0, 4, 8)), strict=True),
            zip(*(SHARES[i][3] for i in (1, 5, 10)), strict=True),
            strict=True,
        )
    ]
    assert gap.verdict.value == pytest.approx(stats.ttest_1samp(slopes, 0).statistic)
    assert magnitude.verdict.value == 0 and not magnitude.verdict.tied


def test_pruned_cells_without_a_loss_are_tied():
    """contract: one win and one tie is no claim of being better at every size; two wins are."""
    rows = [("mnist", "tdamp", k, [1.0, 1.1, 1.0]) for k in (0.5, 0.1)]
    wins = [("mnist", "adam", k, [2.0, 2.2, 2.1]) for k in (0.5, 0.1)]
    (first, *_) = sparsity_contest.conclusions(final(rows + wins), {})
    assert first.verdict.met
    (first, *_) = sparsity_contest.conclusions(final([*rows, wins[0], ("mnist", "adam", 0.1, [1.0, 1.2, 0.9])]), {})
    assert first.verdict.tied and first.verdict.value == 0.5


def test_the_gap_that_widens():
    """contract: twice as good with all units, four times with a tenth, alike on all seeds but for a little."""
    rows = [("mnist", "tdamp", k, [1.0, 1.01, 0.99]) for k in (1.0, 0.1)]
    rows += [("mnist", "adam", 1.0, [2.0, 2.0, 2.02]), ("mnist", "adam", 0.1, [4.0, 4.01, 4.0])]
    _, gap = sparsity_contest.conclusions(final(rows), {})
    assert (
        gap.claim == "gap" and gap.verdict.met and "2.01 times ours at keep 1 and 4 times at keep 0.1" in gap.sentence
    )


def test_a_network_that_is_too_large_wins_nothing():
    """contract: at keep 0.1 it has 40 units where 10 were asked for: better than all, and no win; 11 would do."""
    rows = [
        ("mnist", name, k, losses) for name, losses in (("tdamp", [1.0, 1.1]), ("adam", [3.0, 3.2])) for k in (1.0, 0.1)
    ]
    for units, word in ((40, "larger"), (11, "win")):
        made = final(rows, {("tdamp", 0.1): units, ("tdamp", 1.0): 100, ("adam", 1.0): 100})
        assert sparsity_contest.against_each(made)["outcome"].tolist() == ["win", word]
        (compressed, *_) = sparsity_contest.conclusions(made, {})
        assert compressed.verdict.met == (word == "win") and not compressed.verdict.tied
        assert ("1 not comparable (too many units left)" in compressed.sentence) == (word == "larger")


def test_no_rivals_no_verdicts():
    """contract: tdamp alone, and a store without tdamp."""
    for rows in (SHARES[:1], SHARES[1:2]):
        assert (
            len(sparsity_contest.against_each(final(rows))) == 0 and sparsity_contest.conclusions(final(rows), {}) == []
        )
