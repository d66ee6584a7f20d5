"""Rows held out of training: which epoch they call good, and how wide they make predictions.

covers: selection.calibration
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from tdamp import Distribution, Fitted, Network, Settings, fit
from tdamp.numerics.distribution import Level
from tdamp.prediction import batched
from tdamp.selection.calibration import level_of, unstretched
from tdamp.selection.held_out import HeldOut, Scored, hold_out
from tdamp.training import calibration
from tdamp.training.calibration import LEAST_DOF
from tdamp.training.data import Data
from tdamp.training.equal_rows import kinds_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).astype(np.float32)
Y = (X[:, :2] + 0.3 * RNG.normal(size=(60, 2))).astype(np.float32)
WEIGHT = RNG.uniform(0.5, 2, 60)
DATA = Data(X, Y, WEIGHT)


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    """A regression of two targets."""
    return fit(Network((3, 5, 2)), X, Y, Settings(max_epochs=2, batch_size=30))


def predicted(rows: int = 60, factor: float = 1.0) -> Distribution:
    """Some predictions of two targets."""
    parts = (factor * RNG.uniform(0.1, 0.3, (rows, 2)) for _ in range(2))
    return Distribution.from_vars(Y[:rows] + RNG.normal(0, 0.5, (rows, 2)), *parts)


def scored(each: list[np.ndarray], weight: np.ndarray) -> HeldOut:
    """Rows of these weights whose snapshots had these log scores."""
    level = Level(np.ones(1), np.ones(1))
    rows = len(weight)
    data = Data(X[:rows], Y[:rows], weight)
    return HeldOut(data, data, [Scored(predicted(rows), scores, np.zeros(rows), level) for scores in each])


def latest_by_hand(each: list[np.ndarray], weight: np.ndarray) -> int:
    """The same rule, row by row."""
    share = weight / weight.sum()
    means = [sum(s * e for s, e in zip(share, scores, strict=True)) for scores in each]
    best = each[int(np.argmax(means))]
    good = []
    for place, scores in enumerate(each):
        mean = sum(s * (b - e) for s, b, e in zip(share, best, scores, strict=True))
        var = sum((s * (b - e - mean)) ** 2 for s, b, e in zip(share, best, scores, strict=True))
        if mean <= np.sqrt(var):
            good.append(place)
    return good[-1]


def test_the_latest_good_snapshot() -> None:
    """twin: by hand, of snapshots that fall off by less and by more than a standard error, with weights."""
    result = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        weight = rng.uniform(0.2, 3, 30)
        each = [rng.normal(0, 1, 30) + rng.normal(0, 0.3) for _ in range(6)]
        result.add(latest_by_hand(each, weight))
        assert scored(each, weight).latest_good() == latest_by_hand(each, weight)
    assert len(result) > 2


def test_a_sure_loss_ends_and_a_doubtful_one_does_not() -> None:
    """contract: 0.1 lost in every row is sure, 0.1 in the mean of rows that differ by 1, is not. Ties are good."""
    rng = np.random.default_rng(0)
    best, one = rng.normal(size=25), np.ones(25)
    assert scored([best, best - 0.1], one).latest_good() == 0
    assert scored([best, best - 0.1 - rng.permutation(np.linspace(-1, 1, 25))], one).latest_good() == 1
    assert scored([best - 0.1, best, best], one).latest_good() == 2
    assert scored([best], one).latest_good() == 0


def test_scores_of_a_regression(fitted: Fitted) -> None:
    """twin: the weighted mean of the rows' scores at their best width; the snapshot has the training rows' level."""
    rest = Data(X[:20], Y[:20], WEIGHT[:20])
    held = HeldOut(DATA, rest)
    result = batched.predicted(fitted, X)
    each = calibration.best_log_scores(Y, result, WEIGHT)
    assert held.score(fitted) == pytest.approx(each @ WEIGHT / WEIGHT.sum())
    (snapshot,) = held.snapshots
    np.testing.assert_array_equal(snapshot.log_scores, each)
    noise_var = WEIGHT[:20] @ result.aleatoric_var[:20] / WEIGHT[:20].sum()
    np.testing.assert_allclose(snapshot.level.aleatoric_var, noise_var, rtol=1e-5)
    np.testing.assert_array_equal(level_of(fitted, rest), snapshot.level)


def test_scores_of_classes() -> None:
    """identity: the weighted mean of log Phi of two classes' margins, to 1e-3; each is kept, nothing stretched."""
    label = (X[:, 0] > 0).astype(np.int32)
    fitted = fit(Network((3, 5, 2), "classification"), X, label, Settings(max_epochs=2, batch_size=30))
    data = Data(X, label, WEIGHT)
    held = HeldOut(data, data)
    z, sign = batched.moments(fitted, X), 2 * label - 1
    each = norm.logcdf(
        sign * (z.mean[:, 1] - z.mean[:, 0]) / np.sqrt(z.var.sum(1) + np.asarray(fitted.state.noise_var))
    )
    assert held.score(fitted) == pytest.approx(each @ WEIGHT / WEIGHT.sum(), rel=1e-3)
    np.testing.assert_allclose(held.snapshots[0].log_scores, each, atol=1e-3)
    assert held.calibration_at(0, fitted) is None
    assert held.calibration(fitted) is None and unstretched(fitted, data) is None


def test_calibration_of_a_snapshot(fitted: Fitted) -> None:
    """twin: `calibrate` of the snapshot's predictions, carried from its level to the other; and of a fitted network."""
    held = HeldOut(DATA, DATA)
    levels = [Level(np.array([1.0, 2.0]), np.array([3.0, 4.0])), Level(np.array([5.0, 6.0]), np.array([7.0, 8.0]))]
    snapshots = [predicted(), predicted(factor=3.0)]
    for actual, level in zip(snapshots, levels, strict=True):
        held.add(actual, level)
    other, kish = level_of(fitted, DATA), WEIGHT.sum() / np.square(WEIGHT).sum()
    for place in (0, 1):
        expected = calibration.calibrate(Y, snapshots[place], WEIGHT * kish).carried(levels[place], other)
        carried = held.calibration_at(place, fitted)
        assert carried is not None
        for a, b in zip(carried, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    whole = held.calibration(fitted)
    assert whole is not None
    for a, b in zip(whole, calibration.calibrate(Y, batched.predicted(fitted, X), WEIGHT * kish), strict=True):
        np.testing.assert_array_equal(a, b)


def test_snapshots_come_back_from_a_checkpoint() -> None:
    """identity: packed, and unpacked where another snapshot was, they are the same, scores and all."""
    held, again = HeldOut(DATA, DATA), HeldOut(DATA, DATA)
    for factor in (1.0, 2.0, 3.0):
        held.add(predicted(factor=factor), Level(np.full(2, factor), np.full(2, 2 * factor)))
    again.add(predicted(), Level(np.ones(2), np.ones(2)))
    again.unpack(held.packed())
    assert len(again.snapshots) == 3
    for mine, theirs in zip(again.snapshots, held.snapshots, strict=True):
        np.testing.assert_allclose(mine.log_scores, theirs.log_scores, rtol=1e-6)
        np.testing.assert_allclose(mine.predictions.mean, theirs.predictions.mean, rtol=1e-6)
        np.testing.assert_array_equal(mine.level.aleatoric_var, theirs.level.aleatoric_var)


def test_without_rows_to_spare(fitted: Fitted) -> None:
    """identity: nothing is stretched; the tails count each row by the share of noise in its variance and by its weight,
    as so many rows of equal weight as tell the same."""
    by = unstretched(fitted, DATA)
    assert by is not None
    result = batched.predicted(fitted, X)
    kish = WEIGHT.sum() / np.square(WEIGHT).sum()
    rows = (kish * WEIGHT[:, None] * result.aleatoric_var / result.var).sum(0)
    np.testing.assert_allclose(by.dof, LEAST_DOF + rows, rtol=1e-6)
    assert by.epistemic.tolist() == by.noise.tolist() == [1, 1]


@pytest.mark.parametrize("y", [Y, np.repeat([0, 1], [40, 20])], ids=["regression", "classes"])
def test_what_is_held_out(y: np.ndarray) -> None:
    """contract: a tenth of the rows, none of them trained on, every class on both sides, and no row torn apart."""
    result = hold_out(Data(X, y, np.ones(60)), 0.1, 0)
    assert result is not None
    rest, held = result
    assert len(rest.x) == 54 and len(held.data.x) == 6 and held.trained is rest and held.snapshots == []
    both = np.concatenate([rest.x, held.data.x])
    place = np.array([np.flatnonzero((row == X).all(1))[0] for row in both])
    assert sorted(place) == list(range(60)) and list(place) != list(range(60))
    np.testing.assert_array_equal(np.concatenate([rest.y, held.data.y]), y[place])
    if y.ndim == 1:
        assert set(rest.y) == set(held.data.y) == {0, 1}
    assert hold_out(Data(X[:1], y[:1], np.ones(1)), 0.1, 0) is None


def test_rows_of_a_table_of_categories_are_of_its_kinds() -> None:
    """identity: each row is of the kind that it has in the whole table, where inputs repeat by design."""
    bits = np.random.default_rng(0).integers(0, 2, (60, 2)).astype(float)
    data = Data(bits, np.arange(60) % 2, 1 + np.arange(60) / 1024)
    result = hold_out(data, 0.1, 0)
    assert result is not None and 4 < len(result[1].kinds) < 8
    place = (1024 * (result[1].data.weight - 1)).astype(int)
    np.testing.assert_array_equal(result[1].kinds, kinds_of(data.x, data.y)[place])


def test_a_class_of_one_row() -> None:
    """contract: it cannot be on both sides; a tenth of the rows is held out all the same."""
    result = hold_out(Data(X, np.repeat([0, 1, 2], [39, 20, 1]), np.ones(60)), 0.1, 0)
    assert result is not None and len(result[0].x) == 54 and len(result[1].data.x) == 6


@pytest.mark.parametrize("seed", range(20))
def test_classes_are_held_out_in_proportion(seed: int) -> None:
    """contract: of 50 rows and 10, five and one; by chance alone more than half of all draws would differ."""
    result = hold_out(Data(X, np.repeat([0, 1], [50, 10]), np.ones(60)), 0.1, seed)
    assert result is not None and np.bincount(result[1].data.y).tolist() == [5, 1]
