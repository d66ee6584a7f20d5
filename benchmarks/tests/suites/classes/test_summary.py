"""Means over seeds, and verdicts."""

import pytest
from scipy import stats

from tdamp_bench.suites.classes import summary


def test_summary_and_verdicts_by_hand():
    """identity: two seeds of four methods; one that lacks a seed is left out; rivals are met seed by seed."""

    def part(seed, method, error, processor):
        test = {"error": error, "nll": 0.05 + error, "ece": 0.003, "reliability": {"accuracy": [None, 0.5 + seed]}}
        run = {"test": test, "seconds": {"processor": processor}, "notes": {"settings": "some", "rate": 0.1}}
        return {"seed": seed, "methods": {method: run}}

    parts = {"tuning": {"one": {}}, "tdamp, seed 0": part(0, "tdamp", 0.01, 8.0)}
    parts |= {"tdamp, seed 1": part(1, "tdamp", 0.03, 10.0), "adam, seed 0": part(0, "adam", 0.1, 1.0)}
    parts |= {f"adamw, seed {seed}": part(seed, "adamw", error, 1.0) for seed, error in ((0, 0.02), (1, 0.041))}
    parts |= {f"ensemble, seed {seed}": part(seed, "ensemble", 0.025, 50.0) for seed in (1, 0)}
    result = summary.summary(parts, (0, 1))
    assert list(result["methods"]) == ["tdamp", "adamw", "ensemble"]
    ours = result["methods"]["tdamp"]
    assert ours["mean"]["test"]["error"] == pytest.approx(0.02) and ours["mean"]["notes"] == {"rate": 0.1}
    assert ours["mean"]["test"]["reliability"]["accuracy"] == [None, 1.0]
    assert ours["standard_error"]["error"] == pytest.approx(0.01)
    judged = summary.verdicts(parts, result)
    limits, adamw, ensemble = judged[:2], judged[2:5], judged[5:]
    assert [v.met for v in limits] == [False, True]
    assert [(v.met, v.tied) for v in adamw] == [(True, False), (True, False), (False, True)]
    assert adamw[0].value == pytest.approx(stats.ttest_rel([0.01, 0.03], [0.02, 0.041]).statistic)
    assert [(v.met, v.tied) for v in ensemble] == [(False, True)] * 3 + [(True, False)]  # 0.02 against 0.025: a tie
