"""Tuning of the rivals on validation rows."""

from dataclasses import replace

import numpy as np
import pytest

from tdamp_bench.core.scoring import nll
from tdamp_bench.methods.baselines.adam import Adam
from tdamp_bench.methods.baselines.recipe import strong
from tdamp_bench.suites.classes import tuning
from tdamp_bench.suites.classes.plan import QUICK

PLAN = replace(QUICK, validation_rows=200, hidden=(16,), rates=(3e-3, 1e-2), angles=(0, 90))


def test_tuning_is_validation_nll_alone_and_together(digits):
    """twin: networks trained one by one on the same split; the least entries are what is chosen."""
    result = tuning.tune(digits, PLAN)
    held_out = digits.validation(PLAN.validation_rows)
    probs = []
    for member in range(2):
        adam = Adam("optax", held_out, (784, 16, 10), 1e-2, PLAN.batch, member)
        list(adam.epochs(2))
        probs.append(adam.predictive(held_out.x_test))
    alone = np.mean([nll(one, held_out.y_test) for one in probs])
    assert result["one_nll"]["0.01"][1] == pytest.approx(alone, rel=1e-6)
    assert result["ensemble_nll"]["0.01"][1] == pytest.approx(nll(np.mean(probs, 0), held_out.y_test), rel=1e-6)
    assert result["ensemble_nll"]["0.01"][1] < result["one_nll"]["0.01"][1]
    for kind in ("one", "ensemble"):
        by_rate = result[f"{kind}_nll"]
        assert by_rate[f"{result[kind]['rate']:g}"][result[kind]["epochs"] - 1] == min(map(min, by_rate.values()))


def test_adamw_is_tuned_by_its_last_epoch(digits, monkeypatch):
    """twin: one recipe trained by itself on the same split for tdamp's epochs; the least is chosen, for each kind."""
    recipes = (strong(3e-3, 0.1, 0.1), strong(1e-2, 0.05, 0.3))
    monkeypatch.setitem(tuning.STRONG, "mnist", recipes)
    result = tuning.tune_strong(digits, PLAN)
    held_out = digits.validation(PLAN.validation_rows)
    each = []
    for member in range(2):
        adam = Adam("optax", held_out, (784, 16, 10), recipes[1], PLAN.batch, member, PLAN.epochs)
        list(adam.epochs(PLAN.epochs))
        each.append(nll(adam.predictive(held_out.x_test), held_out.y_test))
    assert result["one_nll"][str(recipes[1])] == pytest.approx(np.mean(each), rel=1e-6)
    for kind in ("one", "ensemble"):
        choice = tuning.Choice(**result[kind])
        losses = result[f"{kind}_nll"]
        assert losses[str(choice.recipe)] == min(losses.values()) and choice.epochs == PLAN.epochs
