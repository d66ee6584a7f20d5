"""What trials say together, on lines made by hand."""

from __future__ import annotations

import pytest

from tdamp_bench.suites.pruning import summary


def line(lost=0.0, warned=False, auto_lost=0.0, groups=4, table="a", seed=0):
    """A trial that lost so much of 0.9; its log score has a standard error of 0.1, of keep="auto" too."""
    fit = {"quality": 0.9, "groups": 10, "total": 10, "warned": False, "widths": [5, 5, 1], "seconds": 1.0}
    pruned = fit | {"quality": 0.9 - lost, "groups": 3, "warned": warned, "lost": lost, "lost_log_score": lost}
    auto = fit | {"groups": groups, "lost": 0.0, "lost_log_score": auto_lost, "lost_log_score_se": 0.1}
    trial = {"full": fit, "pruned": pruned | {"lost_log_score_se": 0.1}, "auto": auto}
    return {"table": table, "seed": seed, "classes": False, **trial}


@pytest.mark.parametrize(
    ("lost", "warned", "silent", "false"),
    [(0.06, False, True, False), (0.06, True, False, False), (0.04, False, False, False), (0.0, True, False, True)],
)
def test_silent_losses_and_false_warnings(lost, warned, silent, false):
    """contract: a loss is silent above 0.05 without a warning; a warning is false below 0.01."""
    trial = line(lost, warned)
    assert (summary.silent(trial), summary.false_warning(trial)) == (silent, false)


def met(lines):
    """Which verdicts hold."""
    return [verdict.met for verdict in summary.verdicts(lines)]


def test_every_claim_can_fail():
    """contract: trials without loss keep all six; each kind of fault misses its own."""
    assert met([line()] * 10) == [True] * 6
    assert met([line(lost=0.02)] * 10) == [False, True, True, True, True, True]
    assert met([line()] * 9 + [line(lost=0.06)]) == [True, False, True, True, True, True]
    assert met([line()] * 8 + [line(warned=True)] * 2) == [True, True, False, True, True, True]
    assert met([line()] * 9 + [line(auto_lost=0.11, table="b")]) == [True, True, True, False, False, True]
    assert met([line(groups=6)] * 10) == [True, True, True, True, True, False]


def test_seeds_of_a_table_are_judged_together():
    """identity: means 0.09 of three trials whose errors are 0.1 each are 1.56 standard errors."""
    (row,) = summary.tables([line(auto_lost=0.09, seed=seed) for seed in range(3)])
    assert row["auto_errors"] == pytest.approx(0.09 / (0.1 / 3**0.5)) and row["trials"] == 3
