"""Pruning as a user meets it: what remains, what it cost, the warning, and sizes that the fit chooses.

covers: estimators.harm
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from tdamp import Fitted, Settings, TDAMPClassifier, TDAMPRegressor
from tdamp.engine.prune import progress
from tdamp.estimators.harm import goal_at, goal_name
from tdamp.estimators.preprocess import prepare
from tdamp.selection import size
from tdamp.selection.held_out import HeldOut, Scored
from tdamp.selection.selection import Selection
from tdamp.training import checkpoint
from tdamp.training.data import Data
from tdamp.training.fitted import active_units
from tdamp.training.outcome import TrainingWarning

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(240, 6)), columns=list("abcdef"))
Y = np.sin(2 * X["a"]) + X["b"] * X["c"] + 0.8 * X["d"] + 0.1 * RNG.normal(size=240)
Rows = tuple[np.ndarray, np.ndarray]
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


def curved(seed: int) -> Rows:
    """Six inputs, of which four matter, two of them as a product."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(240, 6))
    return x, np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.8 * x[:, 3] + 0.1 * rng.normal(size=240)


ADVISED: dict[str, tuple[Rows, dict[str, Any]]] = {
    "a number": (curved(1), {"keep": 3, "max_epochs": 30}),
    "a share": (make_friedman1(300, n_features=8, noise=0.5, random_state=0), {"keep": 0.25, "max_epochs": 60}),
}


@pytest.mark.parametrize("case", ADVISED)
def test_the_advised_size_is_not_warned_of(case: str) -> None:
    """contract: a fit that warns says how far nothing was lost, as the goal was said; a fit of that size is silent."""
    (x, y), options = ADVISED[case]
    model = TDAMPRegressor((12,), random_state=0).set_params(**options)
    with pytest.warns(TrainingWarning, match="costs") as caught:
        model.fit(x, y)
    (advice,) = re.findall(
        r"On the way no loss was seen down to keep=([\d.]+)\. Use a larger keep", str(caught[-1].message)
    )
    kind = type(options["keep"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        again = clone(model).set_params(keep=kind(advice)).fit(x, y)
    assert model.n_groups_[0] < again.n_groups_[0] < again.n_groups_[1]
    assert again.pruning_loss_ is not None and not again.pruning_loss_.hurts


@pytest.mark.parametrize(
    ("options", "searches"), [({}, True), ({"prior": "group", "max_epochs": 20}, False), ({"max_params": 12}, True)]
)
def test_a_search_is_advised_where_it_is_possible(options: dict[str, Any], searches: bool) -> None:
    """contract: keep="auto" is named where it would not raise, and the goal by its own name."""
    goal = {} if "max_params" in options else {"keep": 3}
    with pytest.warns(TrainingWarning, match="costs") as caught:
        TDAMPRegressor(**FAST | goal | options).fit(X, Y)
    text = str(caught[-1].message)
    assert f"Use a larger {'keep' if goal else 'max_params'}" in text and ('keep="auto"' in text) is searches


UNJUDGED = {
    "no rows held out": ({"early_stopping": False}, 240, "early_stopping=False holds none out", "early_stopping=True"),
    "few epochs": ({"max_epochs": 2}, 240, "max_epochs=2 leaves no epoch with all units", "max_epochs=3 or more"),
    "few rows": ({}, 18, "18 rows are too few to hold any out", "more rows"),
    "copies": ({}, 0, "too few rows differ", "more rows"),
    "a preset": ({"preset": "paper", "pruning": "exact"}, 240, 'preset="paper" holds none out', "early_stopping=True"),
    "a callback": ({"callbacks": [lambda *_: True], "prior": "group"}, 240, "the training ended before", "all epochs"),
}


@pytest.mark.parametrize("case", UNJUDGED)
def test_a_pruning_that_nothing_judged_is_warned_of(case: str) -> None:
    """contract: what is missing, and what to do; nothing without a goal."""
    options, rows, reason, remedy = UNJUDGED[case]
    x, y = (X[:rows], Y[:rows]) if rows else (X.iloc[np.arange(60) % 3], Y.iloc[np.arange(60) % 3])
    options = FAST | {"max_epochs": 10} | options
    if case == "a callback":  # which ends it after the first units have gone
        options["callbacks"] = [lambda epoch, *_: epoch == 5]
    with pytest.warns(TrainingWarning, match=rf"of 18 groups are left, and no rows say .*{reason}.*Use {remedy}"):
        assert TDAMPRegressor(**options, keep=0.3).fit(x, y).pruning_loss_ is None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingWarning)
        TDAMPRegressor(**options).fit(x, y)
    assert not [one for one in caught if "groups are left" in str(one.message)]


GOALS = {
    "share": {"keep": 0.2},
    "number": {"keep": 3},
    "layers": {"keep": (0.5, 0.2)},
    "parameters": {"max_params": 20},
    "multiply-adds": {"max_multiply_adds": 12},
}


@pytest.mark.parametrize("case", GOALS)
def test_what_was_left_on_the_way_is_said_as_the_goal_was(case: str) -> None:
    """identity: the units of the network after each epoch while units go, in the words of the goal."""
    sizes: dict[int, Fitted] = {}
    goal: Any = GOALS[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        model = TDAMPRegressor(
            **FAST, **goal, early_stopping=False, callbacks=[lambda epoch, fitted, _: sizes.update({epoch: fitted})]
        ).fit(X, Y)
    settings = model.settings_
    going = [epoch for epoch in sizes if 0 < progress(settings, epoch) < 1]
    assert len(going) >= 4
    for epoch in going:
        active = active_units(sizes[epoch].state)
        left = sizes[epoch].network.take([np.flatnonzero(mask) for mask in active])
        said = goal_at(model, progress(settings, epoch))
        if case == "share":
            assert said == pytest.approx(np.ceil(100 * left.n_units / 18) / 100)
        elif case == "number":
            assert said == left.n_units
        elif case == "layers":
            assert said == tuple(np.ceil(100 * n / of) / 100 for n, of in zip(left.widths, (6, 12), strict=False))
        else:
            name = f"n_{goal_name(settings)[4:]}"
            assert getattr(left, name) <= said < getattr(model.network_, name)


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
    """contract: fewer units than all; log score and accuracy within a standard error of all units'; a group is one."""
    label = (X["a"] + 0.3 * RNG.normal(size=240) > 0).astype(int)
    model = TDAMPClassifier(**FAST, keep="auto", groups=[["e", "f"]]).fit(X, label)
    left, total = model.n_groups_
    assert total == 17 and 2 <= left < total
    loss = model.pruning_loss_
    assert loss is not None and loss.log_score.within(1) and loss.accuracy.within(1)


@pytest.mark.parametrize("spared", [True, False])
def test_where_no_smaller_network_is_good_the_fit_is_the_one_without_a_goal(
    spared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """twin: keep=None, bit for bit; inputs that are spared are not counted."""
    monkeypatch.setattr(size, "_is_good", lambda selection, whole: False)
    whole = TDAMPRegressor(**FAST).fit(X, Y)
    model = TDAMPRegressor(**FAST, keep="auto", prune_inputs=not spared).fit(X, Y)
    assert model.n_groups_ == ((12, 12) if spared else (18, 18))
    assert model.pruning_loss_ is None
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


def test_a_size_is_compared_with_a_fit_without_a_goal() -> None:
    """identity: a size is good if its log score is within a standard error of the whole network's, row by row, and the
    accuracy that it loses is not worth a warning."""
    rng = np.random.default_rng(0)
    scores, errors = rng.normal(size=(2, 400))

    def selection(log_score: float, accuracy: float) -> Selection:
        held = HeldOut(Data(np.arange(400.0)[:, None], np.zeros((400, 1)), np.ones(400)), None)  # type: ignore[arg-type]
        noise = rng.normal(size=400)
        noise -= noise.mean()
        held.snapshots.append(Scored(None, scores + noise + log_score, errors + noise - accuracy, None))  # type: ignore[arg-type]
        return Selection(held, {1: 0.0}, Settings())

    whole, error = selection(0, 0), (2 / 400) ** 0.5
    for log_score, accuracy, good in ((-0.5, -0.2, True), (-1.5, 0, False), (0, -1.5, False), (1.5, 1.5, True)):
        loss = selection(log_score * error, accuracy * error).loss_to(whole)
        assert (loss.log_score.within(1) and not loss.hurts) is good
        np.testing.assert_allclose(loss.accuracy.mean, -accuracy * error, atol=1e-12)


def test_a_size_needs_rows_to_choose_by() -> None:
    """contract: an error that says what to do."""
    with pytest.raises(ValueError, match='keep="auto" needs rows that are held out'):
        TDAMPRegressor(**FAST, keep="auto", early_stopping=False).fit(X, Y)


def test_a_classification_is_compared_with_every_schedule() -> None:
    """contract: where rows held out choose between two schedules without a goal, both are tried with keep="auto"."""
    x, label = RNG.normal(size=(3000, 2)), np.arange(3000) % 2
    goal, plain = (prepare(TDAMPClassifier((4,), keep=keep), x, label, None) for keep in ("auto", None))
    assert list(goal.whole) == [plain.settings, *plain.others] and len(goal.whole) == 2
    assert not plain.whole


def test_checkpoints_of_a_search_are_found_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: every training of the search has a stage that a later call reads, and that goes with the others."""
    label = (X["a"] + 0.3 * RNG.normal(size=240) > 0).astype(int)
    for rows in (3000, 100):  # by folds, and by rows held out
        monkeypatch.setattr("tdamp.selection.refit.CROSS_VALIDATED_ROWS", rows)
        monkeypatch.setattr(size, "_is_good", lambda selection, whole: False)
        place = tmp_path / str(rows)
        fit = {"hidden_layer_sizes": (4,), "max_epochs": 5, "random_state": 0, "keep": "auto", "checkpoint_dir": place}
        first = TDAMPClassifier(**fit).fit(X, label)
        with monkeypatch.context() as patch:
            patch.setattr("tdamp.training.trainer.Trainer._em_iteration", None)  # nothing is trained anew
            again = TDAMPClassifier(**fit).fit(X, label)
        np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
        checkpoint.clear(place)
        assert not place.exists()


def test_a_size_needs_an_epoch_with_all_units() -> None:
    """contract: an error that says what to do, not a comparison with nothing."""
    with pytest.raises(ValueError, match="max_epochs 3 or more"):
        TDAMPRegressor((12,), max_epochs=2, random_state=0, keep="auto").fit(X, Y)
