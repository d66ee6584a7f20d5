"""Classifiers: rows held out say how long to train, and are then learned from like all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.trained_folds import predict_folds
from tdamp import TDAMPClassifier
from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.estimators.defaults import counted_once
from tdamp.estimators.parameters import settings_of
from tdamp.prediction import batched
from tdamp.selection.cross_validation import FOLDS, folds_of
from tdamp.selection.held_out import HeldOut
from tdamp.selection.refit import select_by_held_out
from tdamp.selection.snapshots import Judged
from tdamp.training.data import Data
from tdamp.training.fit import fit, make_job

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
LABEL = (X[:, 0] + 0.5 * RNG.normal(size=150) > 0).astype(np.int32) + (X[:, 1] > 1)
DATA = Data(X.astype(np.float32), LABEL.astype(np.int32), np.ones(150, np.float32))


@pytest.mark.parametrize("most_rows", [100, 3000], ids=["held-out rows", "folds"])
def test_every_row_is_learned_from(most_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the classifier is `fit` on all rows for the epochs chosen, bit for bit."""
    monkeypatch.setattr("tdamp.selection.refit.CROSS_VALIDATED_ROWS", most_rows)
    model = TDAMPClassifier((8,), max_epochs=6, random_state=0).fit(X, LABEL)
    assert model.history_["held_out"].notna().any()
    order = np.lexsort((LABEL, *X.T, np.ones(150)))  # as `preprocess.sorted_rows` has them
    seed = np.random.RandomState(0).randint(2**31 - 1)
    settings = replace(model.settings_, max_epochs=model.n_iter_)
    whole = fit(model.network_, model._scaled(X)[order], LABEL[order].astype(np.int32), settings, seed=seed)
    np.testing.assert_array_equal(whole.state.layers[0].weight.mean, model.fitted_.state.layers[0].weight.mean)
    assert model.fitted_.calibration is None


def test_folds_of_a_classifier_are_scored_without_them() -> None:
    """twin: `fit` with the fold's weights set to zero, row by row and epoch by epoch."""
    network, settings = Network((3, 8, 3), "classification"), Settings(max_epochs=2, batch_size=32)
    fold = folds_of(DATA, 5)
    snapshots = predict_folds(make_job(network, DATA, settings, seed=5), fold)
    for k in range(FOLDS):
        epochs: list = []
        weight = np.where(fold == k, 0, DATA.weight)
        fit(network, *DATA[:2], settings, seed=5, sample_weight=weight, callback=lambda *a, e=epochs: e.append(a[1]))
        for (scores, level), fitted in zip(snapshots, epochs, strict=True):
            expected = batched.log_scores(fitted, DATA.x[fold == k], DATA.y[fold == k])
            np.testing.assert_array_equal(scores.log_scores[fold == k], expected)
            wrong = batched.log_probs(fitted, DATA.x[fold == k]).argmax(1) != DATA.y[fold == k]
            np.testing.assert_array_equal(scores.errors[fold == k], wrong)
            assert level is None


def test_every_class_is_dealt_out_evenly() -> None:
    """contract: no fold has two rows more of a class than another."""
    fold = folds_of(DATA, 3)
    counts = np.array([np.bincount(LABEL[fold == k], minlength=3) for k in range(FOLDS)])
    assert (np.ptp(counts, 0) <= 1).all() and counts.min() > 0


def test_log_scores_come_back_from_a_checkpoint() -> None:
    """identity: what was packed, with the same latest good snapshot."""
    held = HeldOut(DATA, DATA)
    for each in np.random.default_rng(1).normal(size=(4, 150)) * 0.1 + np.array([[0.0], [1.0], [1.0], [-1.0]]):
        held.add(Judged(each, np.square(each)), None)
    again = HeldOut(DATA, DATA)
    again.unpack(held.packed())
    assert held.latest_good() == again.latest_good() == 2
    np.testing.assert_array_equal([s.log_scores for s in held.snapshots], [s.log_scores for s in again.snapshots])


@pytest.mark.parametrize("noisy", [False, True])
def test_rows_held_out_choose_how_often_the_data_count(noisy: bool) -> None:
    """twin: of both settings those whose first training scored the held-out rows better."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3200, 20 if noisy else 4))
    label = ((x[:, 0] + x[:, 1] > 0) ^ (noisy & (rng.uniform(size=3200) < 0.3))).astype(np.int32)
    model = TDAMPClassifier((16,), max_epochs=12, random_state=0).fit(x, label)
    order = np.lexsort((label, *x.T, np.ones(3200)))
    data = Data(model._scaled(x)[order], label[order], np.ones(3200, np.float32))
    seed = np.random.RandomState(0).randint(2**31 - 1)
    settings, _ = settings_of(model, model.network_, 3200)
    scores = {}
    for each in (settings, counted_once(settings)):
        selection = select_by_held_out(make_job(model.network_, data, each, seed=seed), 0.1, None, None, "")
        assert selection is not None
        scores[each.data_weight] = selection.score()
    assert set(scores) == {1.0, 10.0}
    assert model.settings_.data_weight == max(scores, key=lambda weight: scores[weight]) == (1.0 if noisy else 10.0)


def test_a_data_weight_of_ones_own_is_the_only_one() -> None:
    """contract: nothing is chosen against what was asked for."""
    x = np.random.default_rng(0).normal(size=(3200, 2))
    model = TDAMPClassifier((4,), max_epochs=2, data_weight=3.0, random_state=0).fit(x, (x[:, 0] > 0).astype(int))
    assert model.settings_.data_weight == 3.0
