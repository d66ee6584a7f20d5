"""Peers see standardised rows."""

import numpy as np
import pytest
from scipy.stats import norm

from tdamp_bench.suites.uci.scores import score
from tdamp_bench.suites.uci.tasks import Answer, Gaussian, Task, standardised


def test_a_peer_sees_standard_rows_and_is_scored_in_the_units_of_the_table():
    """identity: a peer that knows the truth in its units has the scores of the same Gaussian in ours."""
    rng = np.random.default_rng(0)
    x, y = 5 + 3 * rng.standard_normal((30, 2)), 100 + 20 * rng.standard_normal(30)
    seen = []

    def peer(tasks, quick):
        for task in tasks:
            seen.append(task)
            yield Answer(Gaussian(np.full(10, 0.5), np.full(10, 2.0)), 1.0)

    y_test = 100 + 20 * rng.standard_normal(10)
    (answer,) = standardised(peer)([Task(0, 5, x, y, x[:10])], False)
    np.testing.assert_allclose(seen[0].x.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose([seen[0].y.mean(), seen[0].y.std()], [0, 1], atol=1e-6)
    mean, std = y.mean() + 0.5 * y.std(), 2 * y.std()
    result = score(answer, y_test)
    assert result["nll"] == pytest.approx(-norm.logpdf(y_test, mean, std).mean())
    assert result["rmse"] == pytest.approx(np.sqrt(np.mean((y_test - mean) ** 2)))
    assert result["width"] == pytest.approx(2 * 1.959964 * std)
    assert result["coverage"] == np.mean(np.abs(y_test - mean) <= 1.959964 * std)
