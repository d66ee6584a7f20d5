"""Rows of the Parquet files."""

import numpy as np
import pandas as pd
import pytest

from tdamp_bench.suites.stream import rows


def test_rows_of_the_file(tmp_path):
    """calibration: sorted by the first column, standard normal, the noise as stated within 4 standard errors."""
    rows.write(tmp_path / "a.parquet", 60_000, 4)
    frame = pd.read_parquet(tmp_path / "a.parquet")
    assert list(frame) == ["x0", "x1", "x2", "x3", "y"] and len(frame) == 60_000
    assert frame["x0"].is_monotonic_increasing
    x = frame.drop(columns="y").to_numpy()
    np.testing.assert_allclose(x.mean(0), 0, atol=4 / np.sqrt(len(x)))
    np.testing.assert_allclose(x.std(0), 1, atol=4 / np.sqrt(2 * len(x)))
    for some, y in ((x, frame["y"].to_numpy()), rows.test_rows(60_000, 4)):
        error = y - rows.function(some)
        assert error.std() == pytest.approx(rows.NOISE, rel=4 / np.sqrt(2 * len(y)))
        assert abs(error.mean()) < 4 * rows.NOISE / np.sqrt(len(y)) and rows.function(some).std() > 2 * rows.NOISE
