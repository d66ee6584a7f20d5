"""Data drawn from the model."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.suites.simulated import draws
from tdamp_bench.suites.simulated.draws import FULL


def test_the_function_is_a_relu_network():
    """twin: two inputs, two hidden units, by hand."""
    layers = [
        (np.array([[1.0, -1.0], [2.0, 0.5]]), np.array([0.5, 0.0])),
        (np.array([[3.0], [-1.0]]), np.array([0.25])),
    ]
    x = np.array([[1.0, 1.0], [-2.0, 0.0]])  # hidden: (3.5, -0.5) and (-1.5, 2)
    np.testing.assert_allclose(draws.function(layers, x), [3 * 3.5 + 0.25, -2 + 0.25])


def test_a_draw_is_the_same_again_and_its_function_has_no_noise():
    """twin: the same draw with hardly any noise has the same function, and targets on it."""
    one, again = draws.draw(3, FULL), draws.draw(3, FULL)
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)
    still = draws.draw(3, replace(FULL, noise=(1e-9, 1e-9)))
    np.testing.assert_array_equal(one.f_test, still.f_test)
    np.testing.assert_allclose(still.y_test, still.f_test, atol=1e-7)
    assert not np.allclose(draws.draw(4, FULL).x, one.x)
    assert one.x.shape == (300, 8) and one.x_test.shape == (500, 8) and 20 <= one.hidden <= 50


def test_noise_of_a_draw():
    """rate: the mean square of n Gaussians misses their variance by at most 4 sqrt(2 / n); bounds hold."""
    for seed in range(20):
        data = draws.draw(seed, FULL)
        assert 0.1 <= np.sqrt(data.noise_var / data.signal_var) <= 0.5
        assert np.mean((data.y_test - data.f_test) ** 2) == pytest.approx(data.noise_var, rel=4 * np.sqrt(2 / 500))


def test_weights_are_those_of_the_prior():
    """calibration: hidden units have variance 2, so E f^2 = E relu^2 + 1 = 2, within 4 standard errors."""
    plan = replace(FULL, rows=1, test_rows=2)
    squares = np.array([np.mean(draws.draw(seed, plan).f_test ** 2) for seed in range(2000)])
    assert squares.mean() == pytest.approx(2.0, abs=4 * squares.std() / np.sqrt(2000))
