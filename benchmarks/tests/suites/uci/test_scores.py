"""Scores, their means and standard errors."""

import numpy as np
import pytest

from tdamp_bench.suites.uci.scores import score, summary
from tdamp_bench.suites.uci.tasks import Answer, Gaussian


def test_what_is_not_finite_scores_infinity():
    """contract: never NaN, and no error that would end a run of hours."""
    result = score(Answer(Gaussian(np.array([0.0, np.nan]), np.ones(2)), 1.0), np.zeros(2))
    assert result["rmse"] == result["nll"] == np.inf and result["coverage"] == 0


def test_means_and_standard_errors():
    """identity: by hand, two splits; a single one has no error."""
    splits = {"0": {"rmse": 1.0, "nll": 2.0, "coverage": 0.9, "width": 4.0, "seconds": 1.0}}
    assert summary(splits)["error"]["rmse"] == 0
    result = summary(splits | {"1": {"rmse": 3.0, "nll": 2.0, "coverage": 1.0, "width": 4.0, "seconds": 2.0}})
    assert result["mean"]["rmse"] == 2 and result["error"]["rmse"] == pytest.approx(np.sqrt(2) / np.sqrt(2))
    assert result["mean"]["coverage"] == pytest.approx(0.95) and result["splits"] == 2
