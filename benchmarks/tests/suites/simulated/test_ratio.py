"""Epistemic variance over squared error: the ratio, its standard error, its verdicts."""

import numpy as np
import pytest

from tdamp_bench.suites.simulated import ratio
from tdamp_bench.suites.simulated.draws import FULL


def made_up(variances, errors, noise_vars=None):
    """Draws of these epistemic variances and squared errors; the rest is of no matter."""
    noise_vars = np.full(len(errors), 0.04) if noise_vars is None else noise_vars
    return [
        {"epistemic_var": e, "squared_error": s, "noise_var": n, "learned_noise_var": 2 * n}
        | {"total_var": e + n, "total_error": s + n, "coverage": 0.9}
        for e, s, n in zip(variances, errors, noise_vars, strict=True)
    ]


def test_ratio_is_that_of_the_sums():
    """identity: 4.4 / 8, where the mean of the draws' own ratios would be 0.7 and their median is 0.5."""
    some = made_up([1.0, 3.0, 0.4], [2.0, 2.0, 4.0])
    result = ratio.summary(some, FULL.noise)
    assert result["ratio"] == pytest.approx(4.4 / 8) and result["median_ratio"] == pytest.approx(0.5)
    assert result["total_ratio"] == pytest.approx((4.4 + 0.12) / (8 + 0.12))
    assert result["noise_ratio"] == pytest.approx(2.0) and result["coverage"] == pytest.approx(0.9)
    assert result["quartiles"] == pytest.approx([0.3, 1.0])


def test_standard_error_of_the_ratio():
    """twin: the delta method, std(e - ratio s) / (mean(s) sqrt(n)), for many draws."""
    rng = np.random.default_rng(0)
    errors = rng.gamma(4.0, 0.25, 400)
    variances = errors * rng.lognormal(0.0, 0.5, 400)
    some = made_up(variances, errors)
    delta = np.std(variances - ratio.pooled(some) * errors) / (errors.mean() * np.sqrt(400))
    assert ratio.standard_error(some) == pytest.approx(delta, rel=0.1)  # 2,000 resamples are good for 1.6 %


def test_ratio_by_noise():
    """identity: three parts of 0.1 to 0.5, equal in the logarithm: up to 0.171, 0.292 and 0.5."""
    some = made_up([1.0, 2.0, 3.0, 5.0], [1.0, 1.0, 1.0, 1.0], np.square([0.11, 0.17, 0.28, 0.49]))
    parts = ratio.summary(some, (0.1, 0.5))["by_noise"]
    assert [(part["draws"], part["ratio"]) for part in parts] == [(2, 1.5), (1, 3.0), (1, 5.0)]


@pytest.mark.parametrize("value, met", [(0.79, [False, True]), (0.8, [True, True]), (1.26, [True, False])])
def test_verdicts(value, met):
    """contract: too sure, right, not sure enough."""
    assert [verdict.met for verdict in ratio.verdicts({"ratio": value})] == met
