"""Scores from numbers made by hand."""

import numpy as np
import pytest

from tdamp_bench.core import scoring
from tdamp_bench.methods.baselines import adam


def test_scores_by_hand():
    """identity: three rows."""
    probs, y = np.array([[0.7, 0.3], [0.2, 0.8], [0.9, 0.1]]), np.array([0, 1, 1])
    assert scoring.error_rate(probs, y) == pytest.approx(1 / 3)
    assert scoring.nll(probs, y) == pytest.approx(-np.log([0.7, 0.8, 0.1]).mean())
    y_test, y_train = np.array([[1.0], [4.0]]), np.array([[0.0], [2.0]])
    assert scoring.nmse(np.array([[1.0], [2.0]]), y_test, y_train) == pytest.approx(4 / 9)
    np.testing.assert_allclose(adam.softmax(np.array([[0, np.log(3)], [1e4, 0]])), [[0.25, 0.75], [1, 0]])
