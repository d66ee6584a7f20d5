"""Where training starts: first weights and minibatches."""

import numpy as np

from tdamp_bench.methods.baselines import start


def test_minibatches_hold_every_row_once():
    """twin: what the mask lets through is the order itself, ragged last minibatch included."""
    order = np.random.default_rng(0).permutation(23)
    rows, present = start.minibatches(order, 5)
    assert rows.shape == present.shape == (5, 5)
    np.testing.assert_array_equal(rows[present > 0], order)


def test_he_init_has_the_right_spread():
    """calibration: the deviation of 78,400 weights is within five standard errors of sqrt(2 / 784)."""
    (weight, bias), _ = start.he_init((784, 100, 10), seed=0)
    assert weight.dtype == np.float32 and not bias.any()
    assert abs(weight.std() / np.sqrt(2 / 784) - 1) < 5 / np.sqrt(2 * weight.size)
