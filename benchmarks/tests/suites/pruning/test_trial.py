"""The guard of pruning: the committed run of twelve tables, and two small tables that are pruned here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tdamp_bench.suites.pruning import summary, trial
from tdamp_bench.suites.pruning.tables import TABLES, Rows, Table

RESULTS = Path(__file__).parents[4] / "results/pruning.json"
SEEDS = 3


@pytest.fixture(scope="module")
def lines() -> list[summary.Line]:
    """The trials of the committed run."""
    return json.loads(RESULTS.read_text())["trials"]


def test_the_committed_run_is_whole(lines: list[summary.Line]) -> None:
    """contract: every table with every seed, once, and not of the quick run."""
    assert not json.loads(RESULTS.read_text())["quick"]
    assert sorted((line["table"], line["seed"]) for line in lines) == sorted(
        (t, s) for t in TABLES for s in range(SEEDS)
    )


def test_the_guard_in_the_committed_run(lines: list[summary.Line]) -> None:
    """calibration: no loss is silent, at most one warning in ten runs is false, the mean loss is 0.01 at most and the
    worst without a warning 0.05, and keep="auto" leaves at most half of the groups on average."""
    lost = [line["pruned"]["lost"] for line in lines]
    assert sum(map(summary.silent, lines)) == 0
    assert sum(map(summary.false_warning, lines)) <= 0.1 * len(lines)
    assert np.mean(lost) <= 0.01
    assert max(line["pruned"]["lost"] for line in lines if not line["pruned"]["warned"]) <= 0.05
    assert np.mean([summary.share(line["auto"]) for line in lines]) <= 0.5


def every_column(seed: int) -> Rows:
    """Sums of ten columns, all of which count alike: none can be spared."""
    rng = np.random.default_rng([5, seed])
    x = rng.standard_normal((300, 10))
    return Rows(x, x.sum(1) + 0.3 * rng.standard_normal(300))


def few_columns(seed: int) -> Rows:
    """A class that one of eight columns nearly decides."""
    rng = np.random.default_rng([6, seed])
    x = rng.standard_normal((300, 8))
    return Rows(x, (x[:, 0] + 0.3 * rng.standard_normal(300) > 0).astype(int))


@pytest.mark.parametrize(
    ("table", "loses"),
    [(Table("every column", False, (4,), every_column), True), (Table("few columns", True, (12,), few_columns), False)],
    ids=lambda value: value.name if isinstance(value, Table) else "",
)
def test_the_guard_on_small_tables(table: Table, loses: bool) -> None:
    """calibration: the guard of the fit itself: a large loss is warned of, and where columns can be spared none is;
    keep="auto" loses no more than a little of either."""
    line = trial.run(table, 0, epochs=40)
    assert (line["pruned"]["lost"] > summary.MOST_LOST) is line["pruned"]["warned"] is loses
    assert not summary.silent(line) and not summary.false_warning(line)
    assert line["auto"]["lost"] <= summary.MOST_LOST and not line["auto"]["warned"]
    assert loses or line["auto"]["groups"] < line["auto"]["total"]
