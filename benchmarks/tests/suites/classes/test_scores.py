"""Scores of class probabilities."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.methods.baselines.adam import softmax
from tdamp_bench.suites.classes import scores
from tdamp_bench.suites.classes.plan import QUICK
from tdamp_bench.suites.classes.sets import sets

PLAN = replace(QUICK, validation_rows=200, hidden=(16,), rates=(3e-3, 1e-2), angles=(0, 90))


def test_scores_are_wired_to_their_sets(digits):
    """identity: sure and right about digits, at a loss about the rest: AUROC 1, and 0 the other way round."""
    asked = sets(digits.x_test, digits.y_test, PLAN)
    right = softmax(20 * np.eye(10)[digits.y_test])

    result = scores.scores(lambda x: right if x is asked.test else _flat(x), asked)
    assert all(how == {"entropy": 1.0, "max_prob": 1.0} for how in result["outside"].values())
    assert result["test"]["error"] == result["turned"]["0"]["error"] == 0  # the test digits themselves
    assert result["turned"]["90"]["entropy"] == pytest.approx(np.log(10))
    assert result["small_digits"]["nll"] == pytest.approx(np.log(10))
    back = scores.scores(lambda x: right[:1].repeat(len(x), 0) if x is not asked.test else _flat(x), asked)
    assert all(how == {"entropy": 0.0, "max_prob": 0.0} for how in back["outside"].values())


def _flat(x):
    return np.full((len(x), 10), 0.1)


def test_test_scores_by_hand():
    """identity: three rows of two classes, one of them wrong; empty bins are None."""
    y, probs = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    result = scores.on_test(y, probs)
    assert result["error"] == pytest.approx(1 / 3) and result["nll"] == pytest.approx(-np.log([0.9, 0.8, 0.3]).mean())
    assert result["ece"] == pytest.approx((0.1 + 0.2 + 0.7) / 3) and result["aurc"] == pytest.approx(1 / 9)
    assert result["brier"] == pytest.approx(2 * (0.1**2 + 0.2**2 + 0.7**2) / 3)
    assert result["reliability"]["rows"] == [0] * 10 + [1, 1, 0, 1, 0] and result["reliability"]["accuracy"][0] is None
    np.testing.assert_allclose(scores.entropy(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0])
