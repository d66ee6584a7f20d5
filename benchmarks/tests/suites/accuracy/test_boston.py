"""The Boston part of `tdamp bench accuracy` on made-up data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tdamp_bench.core import record
from tdamp_bench.methods.baselines.recipe import strong
from tdamp_bench.suites.accuracy import boston, table
from tdamp_bench.suites.accuracy.plan import QUICK

PLAN = replace(QUICK, batch=20, mnist_epochs=3, boston_epochs=5, boston_batch=20, keep_epochs=8, keeps=(0.5,))


def test_boston_piece(lines, console):
    """contract: NMSE by epoch and split; no verdict without an Adam to compare with."""
    result = boston.run(lines, PLAN, libraries=())
    assert len(result["runs"]["tdamp"]) == 2 and len(result["mean"]["tdamp"]["nmse"]) == 5
    assert boston.verdicts(result) == []
    table.show(console, "boston", record.part(result, [], {}))


def test_boston_is_judged_split_by_split():
    """twin: scipy's paired statistic against the plain Adam of the least mean at each checkpoint, and against AdamW."""
    ours = np.array([[0.30] * 10, [0.20] * 10, [0.10] * 10])
    wide = np.array([[0.30], [0.25], [0.10]]) * np.linspace(3, 1, 10)  # best at epoch 10, a tie there
    flat = ours + 0.1 + 0.01 * np.array([[0], [1], [0]])  # best at epoch 5, a win there
    recipe = strong(0.01, 0.1, 0.0)
    adams = {
        "optax": {"test_by_split": {"0.001": flat}},
        "torch": {"test_by_split": {"0.001": wide}},
        "adamw": {"test_by_split": {"other": 0 * ours, str(recipe): ours - 0.05}, "recipe": recipe.config},
    }
    result = boston.verdicts({"runs": {"tdamp": [{"nmse": list(row)} for row in ours]}, "adam": adams})
    assert [(v.met, v.tied) for v in result] == [(True, False), (False, True), (False, False)]
    assert result[0].value == pytest.approx(stats.ttest_rel(ours[:, 4], flat[:, 4]).statistic)
    assert result[1].value == pytest.approx(stats.ttest_rel(ours[:, 9], wide[:, 9]).statistic)
    assert "AdamW" in result[2].claim and result[2].value == np.inf


def test_boston_grids(lines, console):
    """contract: plain rates and AdamW's six recipes on every split; the table can show them."""
    ticks = []
    plan = replace(PLAN, boston_splits=2)
    result = boston.run(lines, plan, ("optax",), ticks.append)
    assert len(ticks) == boston.steps(plan, ("optax",)) and list(result["adam"]) == ["optax", "adamw"]
    assert len(result["adam"]["adamw"]["test_by_split"]) == 6
    table.show(console, "boston", record.part(result, boston.verdicts(result), {}))
    assert "AdamW, best recipe at each epoch" in console.file.getvalue()
