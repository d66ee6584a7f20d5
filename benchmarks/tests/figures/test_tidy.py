"""Tables of runs."""

import math

import numpy as np

from tdamp_bench.figures import tidy
from tdamp_bench.figures.plan import Cell, Curve
from tdamp_bench.figures.store import Done, Key


def cell(losses: list[list[float]], epochs: int = 2, **curve) -> Cell:
    """A curve with a run for each list."""
    key = Key("mnist", "tdamp", "{}", 0.5, 0, epochs, "test")
    runs = [Done(Key(**{**vars(key), "seed": seed}), loss, 10 + seed, 1.0) for seed, loss in enumerate(losses)]
    return Cell(Curve("tdamp", **curve), "mnist", 0.5, runs=tuple(runs))


def test_table_and_summary_by_hand():
    """identity: two runs of two epochs; a single run has no error, an infinite one an infinite mean."""
    runs = tidy.table([cell([[4.0, 1.0], [2.0, 3.0]]), cell([[7.0, math.inf]], name="other")])
    assert list(runs.columns) == ["data", "method", "keep", "epoch", "seed", "loss", "units"] and len(runs) == 6
    result = tidy.summary(runs)
    assert result["mean"].tolist() == [3.0, 2.0, 7.0, math.inf] and result["n"].tolist() == [2, 2, 1, 1]
    np.testing.assert_allclose(result["se"], [1.0, 1.0, np.nan, np.nan])
    assert tidy.final(result)["mean"].tolist() == [2.0, math.inf] and result["units"].tolist() == [10.5, 10.5, 10, 10]


def test_a_last_loss_belongs_to_the_last_epoch(tmp_path):
    """identity: a store without curves; and the CSV file reads back."""
    result = tidy.summary(tidy.table([cell([[0.1234567]], epochs=30)]))
    assert result["epoch"].tolist() == [30]
    tidy.save(result, tmp_path / "a.csv")
    assert (
        tmp_path / "a.csv"
    ).read_text() == "data,method,keep,epoch,mean,se,n,units\nmnist,tdamp,0.5,30,0.123457,,1,10\n"
