"""Scores and sizes of compressed models."""

import numpy as np
import pytest
from scipy.stats import norm

from tdamp_bench.core.problems import Problem
from tdamp_bench.suites.compression.outcome import Size, gaussian_nll, network_size, of_classes, of_means

ROWS = np.zeros((4, 2), np.float32)
LINE = Problem("regression", ROWS, np.zeros((4, 1)), ROWS, np.array([[0.0], [1.0], [2.0], [3.0]]))
LABELS = Problem("classification", ROWS, np.zeros(4, int), ROWS, np.array([0, 1, 1, 0]))


def test_size_of_a_network():
    """identity: numbers in the arrays of weights and biases, four bytes each."""
    widths = (3, 4, 2)
    shapes = [(3, 4), (4,), (4, 2), (2,)]
    numbers = sum(int(np.prod(shape)) for shape in shapes)
    assert network_size(widths) == Size(numbers, 3 * 4 + 4 * 2, 4 * numbers, widths)
    assert network_size(widths, 2).bytes == 8 * numbers


def test_scores_of_a_regression():
    """twin: scipy's normal density; R2 of the mean is 0."""
    means = np.full(4, 1.5)
    run = of_means(LINE, means, gaussian_nll(LINE, means, 4.0), Size(1, 1, 4, (2, 1)))
    assert run.loss == [pytest.approx(1.0)] and run.units == 2
    assert run.extra["nll"][0] == pytest.approx(-norm.logpdf(LINE.y_test[:, 0], 1.5, 2.0).mean())
    assert np.isfinite(gaussian_nll(LINE, LINE.y_test[:, 0], 0.0))


def test_scores_of_classes():
    """identity: the share of wrong rows, and minus the mean log probability."""
    probs = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    run = of_classes(LABELS, probs, Size(5, 0, 20))
    assert run.loss == [0.25] and run.units == 0 and run.extra["bytes"] == [20.0]
    assert run.extra["nll"][0] == pytest.approx(-np.log([0.9, 0.8, 0.4, 0.5]).mean())


def test_what_is_not_finite_has_an_infinite_loss():
    """contract: no NaN in the file."""
    size, broken = Size(1, 1, 4), np.full(4, np.nan)
    assert of_means(LINE, broken, gaussian_nll(LINE, broken, 1.0), size).loss == [np.inf]
    assert of_classes(LABELS, np.full((4, 2), np.nan), size).extra["nll"] == [np.inf]
