"""Boosted trees within a number of bytes."""

import numpy as np
import pytest

from tdamp_bench.methods.baselines.lightgbm_trees import TooSmall, Trees, tree_bytes


def test_bytes_of_a_tree():
    """contract: two leaves are one split of 12 bytes and two numbers of 4."""
    assert tree_bytes(2) == 20 and tree_bytes(5) == 4 * 12 + 5 * 4


@pytest.mark.parametrize("budget", [100, 1000])
def test_a_regression_within_its_bytes(lines, budget):
    """contract: no more bytes than allowed; better than the mean; the seed decides all."""
    problem = lines[0].first(61)
    model = Trees(problem, budget, seed=0)
    assert 0 < model.bytes <= budget and model.bytes == sum(map(tree_bytes, model.leaves))
    result = model.predict(problem.x_test)
    assert result.shape == (20,) and np.mean((problem.y_test[:, 0] - result) ** 2) < problem.y_test.var()
    np.testing.assert_array_equal(Trees(problem, budget, seed=0).predict(problem.x_test), result)


def test_classes(blobs):
    """contract: a tree a class and round; two classes need one; probabilities add up; too few bytes are refused."""
    model = Trees(blobs, 600, seed=0)
    probs = model.predict(blobs.x_test)
    assert probs.shape == (60, 3) and len(model.leaves) % 3 == 0 and model.bytes <= 600
    np.testing.assert_allclose(probs.sum(1), 1, atol=1e-6)
    with pytest.raises(TooSmall, match="3 classes"):
        Trees(blobs, 59, seed=0)
    two = blobs.__class__("classification", blobs.x, np.minimum(blobs.y, 1), blobs.x_test, np.minimum(blobs.y_test, 1))
    probs = Trees(two, 59, seed=0).predict(two.x_test)
    assert probs.shape == (60, 2) and np.mean(probs.argmax(1) == two.y_test) > 0.6
