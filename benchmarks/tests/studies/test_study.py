"""A study: what it measures, its options."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from tdamp.cli import main
from tdamp_bench.figures.options import Options
from tdamp_bench.studies.study import Arm, Study, paired, summary


def test_a_study_measures_what_is_missing(tmp_path):
    """contract: every arm and seed once, lists in order; a second call measures only new seeds."""
    calls = []

    def measure(arm, seed):
        calls.append((arm.method, seed))
        return {"list": [seed, 2.0], "one": 3 * seed + (arm.method == "b")}

    arms = [Arm("x", "a", {"k": 1}), Arm("x", "b", {"k": 1})]
    for seeds in (2, 3):
        study = Study("some", Options(seeds=seeds, out=tmp_path), Console(quiet=True))
        runs = study.measured(arms, measure)
    assert sorted(calls) == [(name, seed) for name in "ab" for seed in range(3)] and study.n_new == 2
    one = runs[runs["number"] == "one"]
    assert paired(one[one["method"] == "b"], one[one["method"] == "a"]) == (1.0, 0.0)
    points = summary(runs).set_index(["method", "number", "at"])
    assert points.loc[("a", "one", 0), "mean"] == 3 and points.loc[("a", "one", 0), "n"] == 3
    assert points.loc[("a", "one", 0), "se"] == pytest.approx(np.sqrt(3))
    assert points.loc[("b", "list", 1), "se"] == 0
    assert isinstance(runs, pd.DataFrame) and list(runs.columns)[:3] == ["data", "method", "k"]


@pytest.mark.parametrize("words", [["--data", "boston"], ["--methods", "tdamp"]])
def test_a_study_has_its_own_data_and_methods(tmp_path, capsys, words):
    """contract: what cannot be chosen is refused, exit code 2."""
    assert main.main(["reproduce", "hmc", "--quick", "--out", str(tmp_path), *words]) == 2
    assert "Leave out --data and --methods" in capsys.readouterr().err
