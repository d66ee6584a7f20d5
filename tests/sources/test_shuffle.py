"""Rows on disk: read by slices, summed up, shuffled.

covers: sources.running_scales
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdamp.numerics.scaling import mean_and_std
from tdamp.sources import shuffle
from tdamp.sources.running_scales import RunningScales
from tdamp.training.stored import Rows


def test_rows_are_those_of_the_array(tmp_path: Path) -> None:
    """twin: slices, the end cut off, an offset, and the sum, beside NumPy's array."""
    array = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    path = tmp_path / "rows"
    path.write_bytes(b"head" + array.tobytes())
    rows = Rows(path, array.dtype, array.shape, offset=4)
    for here in (slice(0, 7), slice(40, 99), slice(None), slice(50, 60), slice(-3, None)):
        np.testing.assert_array_equal(rows[here], array[here])
        np.testing.assert_array_equal(rows.after(5)[here], array[5:][here])
    assert len(rows.after(5)) == 45 and rows.sum() == pytest.approx(float(array.sum(dtype=np.float64)), rel=1e-12)
    with pytest.raises(ValueError, match="one after another"):
        rows[::2]


@pytest.mark.parametrize("offset, spread", [(0.0, 1.0), (1e9, 1.0), (-3.0, 1e-6), (0.0, 1e200)])
def test_running_scales(offset: float, spread: float) -> None:
    """twin: mean and deviation of all rows at once; a naive sum of squares loses the second case and the last."""
    rng = np.random.default_rng(0)
    values = offset + spread * np.cumsum(rng.normal(size=(3000, 4)), 0)  # blocks differ
    weight = rng.random(3000)
    running = RunningScales()
    for rows in np.split(np.arange(3000), [1, 10, 500, 2500]):
        running.add(values[rows], weight[rows])
    mean, std = mean_and_std(values, weight)
    np.testing.assert_allclose(running.mean, mean, rtol=1e-13, atol=1e-13 * spread)
    rounding = 4 * np.finfo(np.float64).eps * abs(offset)  # of the blocks' means, which the deviation feels
    np.testing.assert_allclose(running.std, std, rtol=1e-12, atol=rounding)
    with np.errstate(over="ignore", invalid="ignore"):
        share = weight / weight.sum()
        naive = np.sqrt(share @ values**2 - (share @ values) ** 2)
    assert np.allclose(naive, std, rtol=1e-6) == ((offset == 0 and spread == 1) or spread < 1)


def test_a_constant_column_gets_scale_one() -> None:
    """contract: one column constant but for rounding, one not."""
    running = RunningScales()
    for start in range(0, 90, 30):
        block = np.column_stack([np.full(30, 0.1), np.arange(start, start + 30)])
        running.add(block, np.ones(30))
    assert running.scales()[1][0] == 1 and running.scales()[1][1] == pytest.approx(np.arange(90).std())


@pytest.mark.parametrize("most", [2**22, 400])
def test_shuffled_rows_are_all_there_in_an_order_of_their_own(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """calibration: every row comes out once; where it comes out tells nothing of where it was (400 numbers
    at most in memory make it scatter twice); how the rows were cut into blocks changes nothing; no file is left."""
    monkeypatch.setattr(shuffle, "MOST_NUMBERS", most)
    rows = np.column_stack([np.arange(20_000.0), -np.arange(20_000.0)])

    def order(cuts: list[int]) -> np.ndarray:
        rng = np.random.default_rng(0)
        files = shuffle.scatter(np.split(rows, cuts), tmp_path, rng)
        result = list(shuffle.shuffled(files, 2, rng))
        assert max(block.size for block in result) <= most
        return np.concatenate(result)

    result = order([3, 700, 15_000])
    np.testing.assert_array_equal(result[:, 0], -result[:, 1])
    np.testing.assert_array_equal(np.sort(result[:, 0]), rows[:, 0])
    np.testing.assert_array_equal(result, order([9000]))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    place = np.arange(20_000)
    for past in (1, 10):  # of places, and of neighbours: independent ones correlate by 1 / sqrt(n)
        assert abs(np.corrcoef(result[:, 0], place)[0, 1]) < 4 / np.sqrt(20_000)
        assert abs(np.corrcoef(result[past:, 0], result[:-past, 0])[0, 1]) < 4 / np.sqrt(20_000)
