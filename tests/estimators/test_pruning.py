"""Pruning as a user meets it: what remains, what it cost, the warning, and sizes that the fit chooses.

covers: estimators.harm
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.training.outcome import TrainingWarning

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(240, 6)), columns=list("abcdef"))
Y = np.sin(2 * X["a"]) + X["b"] * X["c"] + 0.8 * X["d"] + 0.1 * RNG.normal(size=240)
FAST = {"hidden_layer_sizes": (12,), "max_epochs": 30, "random_state": 0}


def test_a_network_too_small_is_warned_of() -> None:
    """contract: the numbers, the columns that went, and what to do; the attribute says the same."""
    with pytest.warns(TrainingWarning, match=r"to 3 of 18 groups costs 0\.\d+ of R2 .*Columns that went: .*keep="):
        model = TDAMPRegressor(**FAST, keep=3).fit(X, Y)
    loss = model.pruning_loss_
    assert loss is not None and loss.hurts and loss.accuracy.mean > 0.1 and model.n_groups_ == (3, 18)
    assert loss.accuracy_before == pytest.approx(TDAMPRegressor(**FAST).fit(X, Y).score(X, Y), abs=0.3)


def test_a_network_that_is_large_enough_is_not() -> None:
    """contract: no warning, and the loss is within its errors."""
    noise = pd.DataFrame(RNG.normal(size=(240, 4)), columns=list("ghij"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        model = TDAMPRegressor(**FAST, keep=0.8).fit(pd.concat([X, noise], axis=1), 2 * X["a"] + X["d"])
    assert model.pruning_loss_ is not None and not model.pruning_loss_.hurts


@pytest.mark.parametrize("early_stopping", [True, False])
def test_inputs_may_be_spared(early_stopping: bool) -> None:
    """contract: all inputs stay, and `keep` counts the hidden units alone; without held-out rows nothing is judged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        model = TDAMPRegressor(**FAST, keep=0.5, prune_inputs=False, early_stopping=early_stopping).fit(X, Y)
    assert model.fitted_.network.widths == (6, 6, 1) and model.n_groups_ == (6, 12)
    assert (model.pruning_loss_ is None) is (not early_stopping)


@pytest.mark.parametrize(("name", "budget"), [("max_params", 40), ("max_multiply_adds", 30)])
def test_budgets(name: str, budget: int) -> None:
    """contract: parameters or multiply-adds of the network that remains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        network = TDAMPRegressor(**FAST, **{name: budget}).fit(X, Y).fitted_.network
    assert (network.n_params if name == "max_params" else network.n_multiply_adds) <= budget


def test_a_size_that_costs_nothing_is_found() -> None:
    """contract: fewer units than all, a log score within a standard error of that of all; a group counts as one."""
    label = (X["a"] + 0.3 * RNG.normal(size=240) > 0).astype(int)
    model = TDAMPClassifier(**FAST, keep="auto", groups=[["e", "f"]]).fit(X, label)
    left, total = model.n_groups_
    assert total == 17 and 2 <= left < total
    assert model.pruning_loss_ is not None and model.pruning_loss_.log_score.within(1)


def test_a_size_needs_rows_to_choose_by() -> None:
    """contract: an error that says what to do."""
    with pytest.raises(ValueError, match='keep="auto" needs rows that are held out'):
        TDAMPRegressor(**FAST, keep="auto", early_stopping=False).fit(X, Y)


def test_a_size_needs_an_epoch_with_all_units() -> None:
    """contract: an error that says what to do, not a comparison with nothing."""
    with pytest.raises(ValueError, match="max_epochs 3 or more"):
        TDAMPRegressor((12,), max_epochs=2, random_state=0, keep="auto").fit(X, Y)
