"""Verdicts of the curves, from numbers made by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tdamp_bench.figures import curves, tasks, tidy

TASKS = {"mnist": tasks.mnist()}


def curve_runs(**curves: list[list[float]]) -> pd.DataFrame:
    """Runs on MNIST: for each method a list of losses by epoch for each seed."""
    rows = [
        ("mnist", name, 1.0, epoch, seed, loss, 10)
        for name, each in curves.items()
        for seed, losses in enumerate(each)
        for epoch, loss in enumerate(losses, 1)
    ]
    return pd.DataFrame(rows, columns=tidy.COLUMNS)


ADAM = [[4.0, 3.0, 2.5, 2.0, 2.2], [4.1, 3.2, 2.4, 2.1, 2.2], [4.0, 3.1, 2.5, 2.3, 2.0]]
"""Least after 4, 4 and 5 epochs."""


def test_curves_are_judged_seed_by_seed():
    """contract: tdamp is at Adam's least after 2 epochs of each seed; wins by 0.7, loses nothing to AMP's tie."""
    ours = [[3.0, 2.0, 1.9, 1.8, 1.5], [3.0, 2.1, 1.9, 1.8, 1.4], [3.0, 2.0, 1.9, 1.8, 1.5]]
    amp = [[9.0] * 4 + [1.4], [9.0] * 4 + [1.5], [9.0] * 4 + [1.5]]
    faster, adam, tied = curves.conclusions(curve_runs(tdamp=ours, adam=ADAM, amp=amp), TASKS)
    assert faster.verdict.met and faster.verdict.value == pytest.approx(np.mean([-2, -2, -3]) / (1 / 3))
    assert "least after 4.33 epochs on average; tdamp is there after 2, difference -2.3 ± 0.33." in faster.sentence
    expected = stats.ttest_rel([1.5, 1.4, 1.5], [2.2, 2.2, 2.0]).statistic
    assert adam.verdict.met and adam.verdict.value == pytest.approx(expected) and "better than it" in adam.sentence
    assert tied.verdict.tied and not tied.verdict.met and "tied with it" in tied.sentence
    assert [one.claim for one in (faster, adam, tied)] == ["faster", "better", "better"]


def test_a_lower_mean_alone_confirms_nothing():
    """contract: ahead by 1 on one seed and behind by 0.4 on two others: the mean is lower, the verdict a tie."""
    flat = [[2.0] * 5] * 3
    _, better = curves.conclusions(curve_runs(tdamp=[[1.0] * 5, [2.4] * 5, [2.4] * 5], adam=flat), TASKS)
    assert better.verdict.tied and better.verdict.value == pytest.approx(
        -0.2 / 3 / (np.std([-1, 0.4, 0.4], ddof=1) / 3**0.5)
    )


def test_never_as_good_as_adam():
    """contract: each run counts one epoch more than all; without Adam, or without tdamp, there is no verdict."""
    slower, worse = curves.conclusions(curve_runs(tdamp=[[3.0] * 5] * 3, adam=ADAM), TASKS)
    assert "after 6 (never in 3 of 3 runs)" in slower.sentence and not slower.verdict.met and not slower.verdict.tied
    assert not worse.verdict.met and "worse than it" in worse.sentence
    assert curves.conclusions(curve_runs(adam=ADAM), TASKS) == []


def test_adamw_is_another_claim_than_adam():
    """contract: the paper's claim against Adam, ours against AdamW, and none while AdamW has not run."""
    low = [[1.0] * 5, [1.1] * 5, [1.0] * 5]
    result = curves.conclusions(curve_runs(tdamp=low, adam=ADAM, adamw=[[0.5] * 5] * 3), TASKS)
    assert [(one.claim, one.verdict.met) for one in result] == [
        ("faster", True), ("better", True), ("strong-better", False),
    ]  # fmt: skip
    assert {one.claim for one in curves.conclusions(curve_runs(tdamp=low, adam=ADAM), TASKS)} == {"faster", "better"}
