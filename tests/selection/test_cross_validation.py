"""Cross-validation: trainings that leave a fold of the rows out, and the fit that they choose.

covers: selection.snapshots
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.trained_folds import predict_folds
from tdamp import TDAMPRegressor
from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.prediction import batched
from tdamp.selection.cross_validation import FOLDS, SNAPSHOTS, folds_of, snapshot_epochs
from tdamp.training.data import Data
from tdamp.training.fit import fit, make_job

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3)).astype(np.float32)
Y = (np.sin(2 * X[:, :1]) + 0.2 * RNG.normal(size=(150, 1))).astype(np.float32)
DATA = Data(X, Y, RNG.uniform(0.5, 2, 150))
NETWORK = Network((3, 8, 1))
SETTINGS = Settings(max_epochs=3, batch_size=32)


def test_each_fold_is_predicted_by_a_fit_without_it() -> None:
    """twin: `fit` with the fold's weights set to zero, row by row and epoch by epoch."""
    fold = folds_of(DATA, 5)
    snapshots = predict_folds(make_job(NETWORK, DATA, SETTINGS, seed=5), fold)
    assert len(snapshots) == 3
    levels = []
    for k in range(FOLDS):
        epochs: list = []
        weight = np.where(fold == k, 0, DATA.weight)
        alone = fit(NETWORK, X, Y, SETTINGS, seed=5, sample_weight=weight, callback=lambda *a, e=epochs: e.append(a[1]))
        for (predictions, _), fitted in zip(snapshots, epochs, strict=True):
            expected = batched.predicted(fitted, X[fold == k])
            np.testing.assert_array_equal(predictions.mean[fold == k], expected.mean)
            np.testing.assert_array_equal(predictions.aleatoric_std[fold == k], expected.aleatoric_std)
        levels.append(np.average(batched.predicted(alone, X).epistemic_var[:, 0], weights=weight))
    assert snapshots[-1].level.epistemic_var[0] == pytest.approx(np.mean(levels), rel=1e-6)


def test_folds_of_classes_are_scored() -> None:
    """twin: log scores of each fold by the `fit` without it."""
    data = Data(X, (Y[:, 0] > 0).astype(np.int32), np.ones(150))
    fold, network = folds_of(data, 5), Network((3, 8, 2), "classification")
    snapshots = predict_folds(make_job(network, data, SETTINGS, seed=5), fold)
    for k in range(FOLDS):
        alone = fit(network, X, data.y, SETTINGS, seed=5, sample_weight=1.0 * (fold != k))
        expected = batched.log_scores(alone, X[fold == k], data.y[fold == k])
        np.testing.assert_array_equal(snapshots[-1].predictions.log_scores[fold == k], expected)
    assert len(snapshots) == 3 and snapshots[-1].level is None


def test_an_error_ends_every_fold() -> None:
    """contract: what one raises in its second epoch comes out, though the others had a million epochs to go."""

    def show(epoch: int, *rest: object) -> None:
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_folds(make_job(NETWORK, DATA, replace(SETTINGS, max_epochs=10**6), seed=5), folds_of(DATA, 5), show)


def test_folds() -> None:
    """contract: all folds are of one size, and equal rows are in one."""
    assert set(np.bincount(folds_of(DATA, 0))) == {150 // FOLDS}
    twice = Data(*(np.concatenate([a, a[::-1]]) for a in DATA))
    fold = folds_of(twice, 0)
    np.testing.assert_array_equal(fold[:150], fold[150:][::-1])
    assert (folds_of(DATA, 1) != folds_of(DATA, 2)).any()


@pytest.mark.parametrize("epochs", [1, 7, 25, 26, 160])
def test_snapshots_are_evenly_spread(epochs: int) -> None:
    """contract: evenly spread, the last epoch among them, never many more than SNAPSHOTS."""
    at = snapshot_epochs(Settings(max_epochs=epochs))
    assert at[-1] == epochs and at[0] >= 1 and len(at) < 2 * SNAPSHOTS
    assert len(set(np.diff(at))) <= 1


def test_a_fit_learns_from_every_row_and_is_as_wide_as_its_errors() -> None:
    """calibration: of 2,000 new rows 95 % lie inside their interval, within 4 sigma and 3 %."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2300, 4))
    y = x[:, 0] + np.abs(x[:, 1]) + rng.normal(size=2300)
    model = TDAMPRegressor((16,), max_epochs=30, random_state=0).fit(x[:300], y[:300])
    low, high = model.predict_interval(x[300:]).T
    assert abs(np.mean((low < y[300:]) & (y[300:] < high)) - 0.95) < 0.03 + 4 * np.sqrt(0.95 * 0.05 / 2000)
    assert model.n_rows_ == 300 and model.n_iter_ == model.fitted_.epoch <= 30
    scores = model.history_["held_out"].dropna()
    assert set(scores.index) == {epoch for epoch in snapshot_epochs(Settings(max_epochs=30)) if epoch <= model.n_iter_}


@pytest.mark.parametrize("kinds", [1, 3])
def test_rows_that_hardly_differ(kinds: int) -> None:
    """contract: fewer kinds of rows than folds cannot be left out in turn, and are learned all the same."""
    which = np.arange(60) % kinds
    model = TDAMPRegressor((8,), max_epochs=5, random_state=0).fit(X[which], Y[which, 0])
    assert np.isfinite(model.predict(X)).all() and np.isfinite(model.log_score(X, Y[:, 0]))


def test_many_rows_are_held_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: above CROSS_VALIDATED_ROWS a tenth is held out of a first training, and the last one has every row."""
    monkeypatch.setattr("tdamp.selection.refit.CROSS_VALIDATED_ROWS", 100)
    model = TDAMPRegressor((8,), max_epochs=6, random_state=0).fit(X, Y[:, 0])
    assert model.n_rows_ == 150 and model.history_["held_out"].notna().all()
    order = np.lexsort((Y[:, 0], *X.T.astype(float), np.ones(150)))  # as `preprocess.sorted_rows` has them
    target = ((Y[order] - model.y_mean_) / model.y_scale_).astype(np.float32)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    settings = replace(model.settings_, max_epochs=model.n_iter_)
    whole = fit(model.network_, model._scaled(X)[order], target, settings, seed=seed)
    np.testing.assert_allclose(whole.state.noise_var, model.fitted_.state.noise_var, rtol=1e-5)
