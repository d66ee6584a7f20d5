"""Problems: validation rows and standardisation."""

import numpy as np
import pytest

from tdamp.datasets import Table
from tdamp_bench.core import problems, scoring


def test_validation_rows_come_from_the_training_part(blobs):
    """identity: the two parts together are the training rows."""
    split = blobs.validation(30)
    assert len(split.x) == 90 and len(split.x_test) == 30
    both = np.concatenate([split.x, split.x_test])
    np.testing.assert_array_equal(np.sort(both[:, 0]), np.sort(blobs.x[:, 0]))


def test_standardise_uses_the_training_part_only(lines):
    """identity: mean 0, deviation 1 in training; a constant column becomes 0; NMSE does not notice the scale."""
    line = lines[0]
    raw = problems.Problem("regression", 3 + 2 * line.x, 7 * line.y, 3 + 2 * line.x_test, 7 * line.y_test)
    raw.x[:, 1] = 5
    result = problems.standardise(raw)
    np.testing.assert_allclose(result.x.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(result.x.std(0), [1, 0, 1, 1], atol=1e-5)
    guess = 0.5 * raw.y_test
    scaled = (guess - raw.y.mean()) / raw.y.std()
    before, after = scoring.nmse(guess, raw.y_test, raw.y), scoring.nmse(scaled, result.y_test, result.y)
    assert after == pytest.approx(before, rel=1e-4)


def test_a_split_keeps_labels():
    """identity: rows of both parts are the table's; inputs and real targets are standardised, labels are not."""
    x = np.arange(40.0).reshape(20, 2)
    labels = Table(x, np.arange(20) % 3, ("a", "b"))
    result = problems.split(labels, "classification", 5, seed=1)
    assert result.x.shape == (15, 2) and result.y_test.shape == (5,)
    np.testing.assert_array_equal(np.sort(np.concatenate([result.y, result.y_test])), np.sort(labels.y))
    numbers = problems.split(labels._replace(y=10 + x[:, 0]), "regression", 5, seed=1)
    assert numbers.y.shape == (15, 1) and numbers.y.mean() == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(numbers.y[:, 0], result.x[:, 0], rtol=1e-5)
