"""Methods compared seed by seed: differences, their errors, and the words for them."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tdamp_bench.figures import paired, tidy


def table(rows: list[tuple]) -> pd.DataFrame:
    """`tidy.table` from (data, method, keep, epoch, seed, loss)."""
    return pd.DataFrame([(*row, 1) for row in rows], columns=tidy.COLUMNS)


@pytest.mark.parametrize(("shift", "outcome"), [(-0.3, "win"), (-0.02, "tie"), (0.0, "tie"), (0.3, "loss")])
def test_the_paired_statistic_is_students(shift, outcome):
    """twin: scipy.stats.ttest_rel on made-up losses whose seeds differ far more than the methods do."""
    rng = np.random.default_rng(0)
    seeds, wiggle = rng.normal(0, 5.0, 10), rng.normal(0, 0.1, 10)
    ours, theirs = seeds + wiggle - wiggle.mean() + shift, seeds
    result = paired.gap(ours, theirs)
    expected = stats.ttest_rel(ours, theirs)
    assert result.in_se == pytest.approx(expected.statistic, abs=1e-9) and result.outcome == outcome
    assert result.difference == pytest.approx(shift, abs=1e-12) and result.se == pytest.approx(stats.sem(ours - theirs))
    assert abs(stats.ttest_ind(ours, theirs).statistic) < 1  # unpaired, nothing would be seen
    verdict = result.verdict("lower")
    assert (verdict.met, verdict.tied) == (outcome == "win", outcome == "tie") and verdict.limit == -2


def test_two_standard_errors_are_the_border():
    """identity: differences of mean 1 and error 1 / 1.99, or 1 / 2.01."""
    for factor, outcome in ((1.99, "tie"), (2.01, "loss")):
        apart = 1 + np.array([-1.0, 1.0]) / factor
        result = paired.gap(apart, np.zeros(2))
        assert result.in_se == pytest.approx(factor) and result.outcome == outcome


@pytest.mark.parametrize(
    ("ours", "theirs", "in_se", "outcome"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0, "tie"),
        ([1.0, 2.0], [2.0, 3.0], -math.inf, "win"),
        ([math.inf, 1.0], [2.0, 2.0], math.inf, "loss"),
        ([1.0, 1.0], [math.inf, 2.0], -math.inf, "win"),
        ([math.inf] * 2, [math.inf] * 2, 0.0, "tie"),
        ([1.0], [2.0], math.nan, "unknown"),
    ],
)
def test_outcomes_at_the_edges(ours, theirs, in_se, outcome):
    """contract: no spread, divergence on either side or both, a single seed."""
    result = paired.gap(ours, theirs)
    np.testing.assert_equal(result.in_se, in_se)
    assert result.outcome == outcome and result.verdict("x").tied == (outcome == "tie")


def test_only_common_seeds_and_last_epochs_count():
    """identity: seed 2 has no twin, epoch 1 is not the last; nothing in common is no gap; lengths must agree."""
    rows = [("mnist", "a", 1.0, epoch, seed, loss) for epoch, seed, loss in ((1, 0, 9.0), (2, 0, 1.0), (2, 2, 99.0))]
    rows += [("mnist", "a", 1.0, 2, 1, 4.0), ("mnist", "b", 1.0, 1, 0, 2.0), ("mnist", "b", 1.0, 1, 1, 7.0)]
    final = paired.last_epoch(table(rows))
    result = paired.between(final, "mnist", 1.0, "a", "b")
    assert result == (2.5, 4.5, -2.0, 1.0) and result.in_se == -2.0 and result.word == "tied with"
    assert result.text() == "-2 ± 1" and result.text(100, " points") == "-2e+02 ± 1e+02 points"
    assert paired.between(final, "boston", 1.0, "a", "b") is None
    with pytest.raises(ValueError, match="same seeds"):
        paired.gap([1.0], [1.0, 2.0])
