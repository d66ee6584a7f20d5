"""The law of growth: a least-squares line in the logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import linregress

from tdamp_bench.suites.growth import law


def test_the_law_is_a_line_in_the_logarithms():
    """twin: SciPy's regression, slope, its standard error, and the intercept."""
    rng = np.random.default_rng(0)
    sizes = np.array([1.0, 3.0, 10.0, 40.0])
    seconds = 2.0 * sizes**1.3 * rng.lognormal(0, 0.1, 4)
    result, other = law.fit(sizes, seconds), linregress(np.log(sizes), np.log(seconds))
    assert result["exponent"] == pytest.approx(other.slope)
    assert result["standard_error"] == pytest.approx(other.stderr)
    assert result["constant"] == pytest.approx(np.exp(other.intercept))


def test_only_the_largest_sizes_count():
    """identity: seconds that are constant for small sizes and linear for the last four give the exponent one."""
    points = [
        {"rows": n, "median": max(n, 800) / 1e3, "least": n / 1e3, "roofline_share": 0.4, "best_roofline_share": 0.5}
        for n in (100, 200, 400, 800, 1600, 3200, 6400)
    ]
    result = law.of("rows", points)
    assert result["fitted_to"] == [800, 1600, 3200, 6400] and result["by_median"]["exponent"] == pytest.approx(1)
    assert [v.met for v in law.verdicts({"rows": result})] == [True]
    result["by_median"]["exponent"] = 1.2
    assert [v.met for v in law.verdicts({"rows": result})] == [False]
