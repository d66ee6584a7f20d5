"""Verdicts split by split."""

import numpy as np
import pytest

from tdamp_bench.suites.uci import verdicts


def runs_of(figures):
    """Three splits a set, mean RMSE, NLL and coverage of tdamp, beside an ensemble of RMSE 3 and NLL 2.5."""
    ensemble = {"rmse": 3.0, "nll": 2.5, "coverage": 0.95, "width": 1.0, "seconds": 1.0}
    wiggle = {"0": 0.0, "1": 0.03, "2": -0.03}
    return {
        name: {
            "tdamp": {
                "splits": {
                    split: ensemble | {"rmse": rmse + more, "nll": nll + more, "coverage": coverage}
                    for split, more in wiggle.items()
                }
            },
            "ensemble": {"splits": {split: ensemble for split in wiggle} | {"3": ensemble | {"rmse": 1e-3}}},
        }
        for name, (rmse, nll, coverage) in figures.items()
    }


def test_verdicts_by_hand():
    """identity: unrounded means against the printed figures; coverage by the size; common splits, pair by pair."""
    rows = {"boston": 506, "concrete": 1030}
    good = verdicts.verdicts(runs_of({"boston": (2.9, 2.4, 0.91), "concrete": (2.99, 2.49, 0.94)}), rows)
    assert [verdict.met for verdict in good] == [True, True, False, False, True, True, True, True, False, False]
    assert [verdict.tied for verdict in good] == [False] * 8 + [True, True]
    assert good[8].value == pytest.approx(-0.01 / (0.03 / np.sqrt(3))) and "concrete" in good[8].claim
    assert [good[2].value, good[3].value] == [2, 2]
    bad = verdicts.verdicts(runs_of({"boston": (3.014, 2.41, 0.985), "concrete": (3.1, 2.43, 0.92)}), rows)
    assert [verdict.met for verdict in bad] == [False, True, False, False, True, False, False, True, False, True]
    assert not any(verdict.tied for verdict in bad)
    assert bad[0].value == pytest.approx(3.014 / 3.01) and "boston" in bad[0].claim
    assert [bad[2].value, bad[3].value] == [1, 1]
    assert verdicts.verdicts({}, {}) == []
