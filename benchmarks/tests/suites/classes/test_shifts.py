"""Shifted digits."""

import numpy as np

from tdamp_bench.suites.classes import shifts


def test_turned_by_ninety_degrees(digits):
    """identity: numpy.rot90, which moves pixels only; no angle changes nothing, and values stay in [0, 1]."""
    x = np.concatenate([digits.x_test[:3], np.random.default_rng(0).random((2, 784), np.float32)])
    for turns in (1, 2):
        expected = np.rot90(x.reshape(-1, 28, 28), turns, axes=(1, 2)).reshape(x.shape)
        np.testing.assert_allclose(shifts.turned(x, 90 * turns), expected, atol=1e-6)
    assert shifts.turned(x, 0) is x
    slanted = shifts.turned(x, 30)
    assert slanted.min() >= 0 and slanted.max() <= 1 and slanted.dtype == np.float32


def test_pieces_are_the_quarters_in_another_order():
    """contract: each quarter of each picture is found once, and never are all four in their places."""
    x = np.random.default_rng(1).random((30, 784), np.float32)
    before, after = _quarters(x), _quarters(shifts.pieces(x))
    same = np.array([[(a == b).all((1, 2)) for b in before] for a in after])
    assert (same.sum(0) == 1).all() and (same.sum(1) == 1).all()
    assert (np.trace(same) < 4).all() and len({tuple(order) for order in same.argmax(1).T}) > 5


def _quarters(x):
    return [x.reshape(-1, 28, 28)[:, i : i + 14, j : j + 14] for i in (0, 14) for j in (0, 14)]


def test_permuted_and_inverted(digits):
    """identity: every picture in the same order; black for white."""
    x = digits.x_test
    order = np.argsort(shifts.permuted(np.arange(784.0)[None])[0])
    np.testing.assert_array_equal(shifts.permuted(x)[:, order], x)
    np.testing.assert_array_equal(shifts.inverted(x) + x, np.ones_like(x))
