"""Scales of inputs: columns that are mostly zero share a unit rather than a variance."""

from __future__ import annotations

import numpy as np
import pytest

from tdamp.numerics import scaling
from tdamp.sources.running_scales import RunningScales

RNG = np.random.default_rng(0)


def test_rare_columns_keep_their_unit() -> None:
    """identity: of 0/1 columns the rarer ones have the scale of one that is 1 in a quarter of the rows, nearly."""
    n = 100_000
    counts = np.array([n // 2, n // 4, n // 100, 1])
    x = (np.arange(n)[:, None] < counts).astype(float)
    _, scale = scaling.input_scales(x, np.ones(n))
    share = counts / n
    np.testing.assert_allclose(scale[:2], np.sqrt(share * (1 - share))[:2])
    np.testing.assert_allclose(scale[2:], np.sqrt(0.25 * (1 - share))[2:], rtol=1e-12)
    _, plain = scaling.scales_of(x, np.ones(n))
    assert plain[3] < 0.01 * scale[3]  # by which the one cell would be 316 standard deviations from the mean


def test_other_columns_have_variance_one() -> None:
    """identity: a column with zeros in less than three quarters of its rows, and one that is constant."""
    x = RNG.normal(size=(1000, 3)) * [1.0, 5.0, 0.0] + [0.0, 3.0, 0.0]
    x[:700, 0] = 0
    weight = RNG.uniform(0.5, 2, 1000)
    mean, scale = scaling.input_scales(x, weight)
    expected = scaling.scales_of(x, weight)
    np.testing.assert_array_equal(mean, expected[0])
    np.testing.assert_array_equal(scale, expected[1])
    assert scale[2] == 1


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5])
def test_the_same_from_blocks(share: float) -> None:
    """identity: rows in three blocks have the scales of all rows at once; copies those of weights."""
    x = RNG.normal(size=(900, 2)) * (RNG.uniform(size=(900, 2)) < share)
    weight = RNG.integers(1, 4, 900).astype(float)
    running = RunningScales()
    for part in np.split(np.arange(900), [100, 500]):
        running.add(x[part], weight[part])
    np.testing.assert_allclose(running.input_scales(), scaling.input_scales(x, weight), rtol=1e-12)
    copies = np.repeat(x, weight.astype(int), 0)
    np.testing.assert_allclose(scaling.input_scales(copies, np.ones(len(copies))), scaling.input_scales(x, weight))


def test_channels_are_scaled_over_their_places() -> None:
    """identity: from moments of single columns come those of all places of a channel together, huge numbers too."""
    x = RNG.normal(size=(50, 4, 3)) * [1.0, 1e-3, 1e200] + np.arange(12).reshape(4, 3) * [1.0, 1e-3, 1e200]
    columns = scaling.mean_and_std(x.reshape(50, -1), np.ones(50))
    mean, scale = scaling.channel_scales(*columns, 3)
    np.testing.assert_allclose(mean.reshape(4, 3)[1], x.mean((0, 1)))
    unit = np.array([1.0, 1e-3, 1e200])
    np.testing.assert_allclose(scale.reshape(4, 3)[2], (x / unit).std((0, 1)) * unit)
