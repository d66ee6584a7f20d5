"""Rows kept from a training: equal ones together, as many as asked for, whatever the order."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

from tdamp import Batches, TDAMPClassifier, TDAMPRegressor
from tdamp.cli import exit_codes
from tdamp.cli import fit as fit_command
from tdamp.estimators import fitting, from_source, sparsity_path
from tdamp.selection.held_out import drawn, hold_out
from tdamp.sources import shuffle
from tdamp.training.data import Data
from tdamp.training.equal_rows import (
    Sample,
    as_evidence,
    drawn_rows,
    filling,
    learned,
)
from tdamp.training.stored import Streamed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)).astype(np.float32)
Y = X[:, :1] + RNG.normal(size=(200, 1)).astype(np.float32)
LABELS = (Y[:, 0] > 0).astype(np.int32)


def copies(*arrays: np.ndarray, times: int = 4) -> tuple[np.ndarray, ...]:
    """Every row several times, in a random order."""
    order = RNG.permutation(times * len(arrays[0]))
    return tuple(np.tile(a, (times, *[1] * (a.ndim - 1)))[order] for a in arrays)


def in_both(train: np.ndarray, held: np.ndarray) -> int:
    """Rows that stand on both sides."""
    return len({row.tobytes() for row in np.asarray(train)} & {row.tobytes() for row in np.asarray(held)})


@pytest.mark.parametrize("y", [Y, LABELS], ids=["regression", "classes"])
def test_no_copy_of_a_row_held_out_is_trained_on(y: np.ndarray) -> None:
    """contract: four copies of 200 rows; a tenth of them is held out, no row is on both sides."""
    x, y = copies(X, y)
    train, held = hold_out(Data(x, y, np.ones(len(x))), 0.1, 3)
    assert in_both(train.x, held.data.x) == 0
    assert len(held.data.x) == 80 and len(train.x) == 720


def cells(rows: int, columns: int, values: int) -> np.ndarray:
    """Categories by numbers."""
    return RNG.integers(0, values, (rows, columns)).astype(float)


def flipped(y: np.ndarray, share: float) -> np.ndarray:
    """Labels of which a share is the other one."""
    return np.where(RNG.random(len(y)) < share, 1 - y, y).astype(int)


BITS, MANY = cells(800, 4, 2), cells(800, 3, 6)
TABLES = {
    "categories, noisy labels": (BITS, flipped(BITS.sum(1) % 2, 0.2)),
    "some 200 cells, noisy labels": (MANY, flipped(MANY[:, 0] > 2, 0.2)),
    "categories, ratings": (MANY, np.clip(np.round(MANY[:, 0] + RNG.normal(size=800)), 1, 5)),
}
"""Tables whose inputs repeat by design."""


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_repeated_inputs_are_drawn_alike(table: str) -> None:
    """rate: of every target a fifth of the rows is held out within five standard deviations, and of every input with
    several: drawn by kinds, all rows of an input with one label would be gone."""
    x, y = TABLES[table]
    x = x[:, :2]
    held = drawn_rows(x, y, 0.2, 3, classes=True)
    _, cell = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    there, away = np.bincount(cell), np.bincount(cell, held)
    assert (np.abs(away - 0.2 * there) < 5 * np.sqrt(0.16 * there)).all() and abs(held.sum() - 160) < 3
    sample = Sample(10_000, np.uint64(7))
    for start in range(0, 800, 200):
        sample.add(x[start : start + 200], y[start : start + 200, None], np.ones(200))
    chosen = sample.drawn(0.2)
    taken = [chosen.has(x[start : start + 100], y[start : start + 100, None]) for start in range(0, 800, 100)]
    assert np.concatenate(taken).sum() == 160
    assert sample.drawn(0.9999).has(x, y[:, None]).sum() == 799  # a row is left to train on


def test_a_kind_of_each_class_stays() -> None:
    """contract: however much is asked for, a row of every class is left to train on."""
    held = drawn_rows(X, LABELS, 0.9999, 0, classes=True)
    assert (~held).sum() == 2 and set(LABELS[~held]) == {0, 1}


def test_weights_decide_what_is_held_out() -> None:
    """rate: a tenth of all weight, not of the rows; the rows are two light ones for each heavy one."""
    weight = np.where(np.arange(200) % 3 == 0, 9.0, 0.1)
    held = drawn(Data(X, Y, weight), 0.1, 0)
    assert abs(weight[held].sum() - 0.1 * weight.sum()) <= 4.5


def test_evidence_of_heavy_rows_and_copies() -> None:
    """identity: Kish's number of rows; copies are as one row of their weight, and a scale of all weights is nothing."""
    kinds, weight = np.array([1, 1, 2, 3]), np.array([0.5, 0.5, 1.0, 4.0])
    result = as_evidence(kinds, weight)
    np.testing.assert_allclose(result.sum(), 6**2 / (1 + 1 + 16))
    np.testing.assert_allclose(result / result[0], weight / weight[0])
    np.testing.assert_allclose(as_evidence(kinds, 1000 * weight), result)
    np.testing.assert_allclose(as_evidence(np.arange(7), np.full(7, 3.0)), np.ones(7))


def test_rows_are_known_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: none that was learned from is taken for new; beyond the rows that are kept some are not known."""
    known = learned(learned(None, X[:50], Y[:50]), X[50:90], Y[50:90])
    assert not known.of_new(X[:90], Y[:90]).any() and known.of_new(X[90:], Y[90:]).all()
    monkeypatch.setattr("tdamp.training.equal_rows.MOST_LEARNED", 30)
    few = learned(known, X[90:120], Y[90:120])
    assert len(few.keys) == 30 and not few.of_new(X[:120], Y[:120]).any()
    assert 5 < few.of_new(X[120:], Y[120:]).sum() < 50
    again = learned(few, X[120:], Y[120:])
    assert len(again.keys) == 30 and not again.of_new(X, Y).any()


def test_the_share_is_one_of_weight() -> None:
    """rate: with weights from 0.2 to 5 the sum that is drawn misses its share by half a row at most."""
    weight = np.exp(RNG.uniform(np.log(0.2), np.log(5), 200))
    for seed in range(10):
        drawn = drawn_rows(X, Y, 0.3, seed, classes=False, weight=weight)
        assert abs(weight[drawn].sum() - 0.3 * weight.sum()) <= weight.max() / 2


def test_a_heavy_row_does_not_take_the_place_of_all() -> None:
    """contract: a row of half the weight is never held out for a tenth, and others are."""
    weight = np.r_[199.0, np.ones(199)]
    for seed in range(20):
        drawn = drawn_rows(X, Y, 0.1, seed, classes=False, weight=weight)
        assert not drawn[0] and abs(drawn.sum() - 39.8) < 1
    assert filling(np.array([50.0, 3.0, 3.0, 3.0]), 7.0).tolist() == [False, True, True, False]


def test_the_order_of_rows_does_not_matter() -> None:
    """identity: the same rows are drawn when they come in another order; another seed draws others."""
    order = RNG.permutation(200)
    drawn = drawn_rows(X, LABELS, 0.2, 0, classes=True)
    np.testing.assert_array_equal(drawn_rows(X[order], LABELS[order], 0.2, 0, classes=True), drawn[order])
    assert (drawn != drawn_rows(X, LABELS, 0.2, 1, classes=True)).any()


def test_all_are_drawn_alike() -> None:
    """rate: over 400 seeds each of 200 rows is drawn about 80 times, within five standard deviations."""
    count = sum(drawn_rows(X, Y, 0.2, seed, classes=False).astype(int) for seed in range(400))
    assert count.sum() == 400 * 40 and np.abs(count - 80).max() < 5 * np.sqrt(400 * 0.2 * 0.8)


def test_classes_are_on_both_sides() -> None:
    """contract: a class of two kinds of rows has one on each side, one of a single kind is trained on."""
    x = np.arange(12.0)[:, None].repeat(1, 1)
    y = np.array([0] * 8 + [1, 1, 2, 2], np.int32)
    x[10:] = 7.5  # two copies
    rest, held = hold_out(Data(x, y, np.ones(12)), 0.1, 0)
    assert set(held.data.y) == {0, 1} and set(rest.y) == {0, 1, 2}


@pytest.mark.parametrize("fraction", [0.1, 0.6, 0.9])
def test_large_fractions_are_held_out_too(fraction: float) -> None:
    """contract: more than half of the rows, if asked for."""
    for y in (Y, LABELS):
        rest, held = hold_out(Data(X, y, np.ones(200)), fraction, 0)
        assert len(held.data.x) == round(200 * fraction) == 200 - len(rest.x)


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_too_few_kinds_are_all_trained_on(kinds: int) -> None:
    """contract: of three kinds of twenty copies none is near a tenth; nothing is held out, nothing is lost."""
    data = Data(*copies(X[:kinds], Y[:kinds], times=20), np.ones(20 * kinds))
    assert hold_out(data, 0.1, 0) is None
    assert not drawn(data, 0.1, 0).any()
    three = Data(*copies(X[:3], LABELS[:3], times=20), np.ones(60))
    assert hold_out(three, 0.1, 0) is None


def test_a_sample_of_a_source_is_that_of_all_rows() -> None:
    """twin: kinds of the least ranks among all rows at once, with the weights of all their copies."""
    x, y, weight = copies(X, Y, np.ones(200))
    weight *= RNG.uniform(0.5, 2, 800)
    bits, whole = Sample(50, np.uint64(7)), Sample(10**6, np.uint64(7))
    whole.add(x, y, weight)
    for start in range(0, 800, 64):
        here = slice(start, start + 64)
        bits.add(x[here], y[here], weight[here])
    np.testing.assert_array_equal(bits.ranks, np.sort(whole.ranks)[:50])
    np.testing.assert_allclose(bits.sizes, whole.sizes[:50], rtol=1e-12)
    away = bits.drawn(0.1).has(x, y)
    assert abs(weight[away].sum() - 0.1 * weight.sum()) < 0.5 * bits.sizes.max()
    assert in_both(x[away], x[~away]) == 0
    assert not whole.drawn(0.999).has(x, y).all()  # a kind is left to train on


@pytest.mark.parametrize("classes", [False, True])
def test_sources_hold_copies_out_together(classes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: batches with four copies of each row: no row on both sides, a tenth held out, all rows there."""
    monkeypatch.setattr(from_source, "REFIT_ROWS", 100)
    monkeypatch.setattr(shuffle, "MOST_NUMBERS", 500)

    def instead(job: object, data: Streamed, checkpoint: object) -> None:
        trained, held = data.in_memory(), data.held
        assert held is not None and (len(trained.x), len(held.x), data.n_rows) == (720, 80, 800)
        assert in_both(trained.x, held.x) == 0
        raise InterruptedError

    monkeypatch.setattr(fitting, "fit_streamed", instead)
    x, y = copies(X, LABELS if classes else Y[:, 0])
    model = (TDAMPClassifier if classes else TDAMPRegressor)((8,), random_state=0)
    with pytest.raises(InterruptedError):
        model.fit(Batches([(x[i : i + 70], y[i : i + 70]) for i in range(0, 800, 70)]))


def test_sparsity_path_scores_rows_that_were_not_trained_on() -> None:
    """contract: frames with text labels, each row twice: none on both sides; what cannot be split is an error."""
    frame, y = pd.DataFrame(np.tile(X, (2, 1)), columns=list("abc")), np.tile(np.array(["no", "yes"])[LABELS], 2)
    train, test, y_train, y_test = sparsity_path._split_off(frame, y, 0.25, 0, True)
    assert in_both(train.to_numpy(), test.to_numpy()) == 0
    assert len(test) == len(y_test) == 100 and len(train) == len(y_train) == 300
    assert abs((y_test == "yes").mean() - (y == "yes").mean()) <= 0.02
    with pytest.raises(ValueError, match=r"test_size=1.5: expected"):
        sparsity_path._split_off(frame, y, 1.5, 0, True)
    with pytest.raises(ValueError, match="give more rows that differ"):
        sparsity_path._split_off(np.ones((8, 2)), np.ones(8), 0.25, 0, False)


def test_the_command_tests_on_rows_of_its_own() -> None:
    """contract: a table with each row twice: what `tdamp fit` holds back has no copy among the rest."""
    chosen = Namespace(test_fraction=0.25, seed=0, data="t.csv")
    x, y = copies(X, Y[:, 0], times=2)
    test = fit_command.choose_test_rows(chosen, Namespace(classes=None), x, y)  # type: ignore[arg-type]
    assert test.sum() == 100 and in_both(x[test], x[~test]) == 0
    with pytest.raises(exit_codes.CommandError, match="give more rows that differ"):
        fit_command.choose_test_rows(chosen, Namespace(classes=None), 0 * x, 0 * y)  # type: ignore[arg-type]


def test_copies_do_not_spoil_the_calibration() -> None:
    """calibration: 300 rows, mostly noise, each of weight four. Of 2,000 new ones 95 % lie inside their interval, but
    for four standard deviations of a count and three of a width estimated from 30 rows (sqrt(1 / 60) in logs, each
    worth 2 z phi(z)); classes are predicted about as well as by their frequencies. With copies on both sides: 74 %, and
    3 nats worse."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2300, 10))
    y = x[:, 0] + 2 * rng.normal(size=2300)
    known, new, weight = slice(0, 300), slice(300, None), np.full(300, 4.0)
    model = TDAMPRegressor((64,), prior="group", data_weight=20.0, max_epochs=60, random_state=0)
    low, high = model.fit(x[known], y[known], weight).predict_interval(x[new]).T
    inside = np.mean((low < y[new]) & (y[new] < high))
    assert abs(inside - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000) + 3 * np.sqrt(1 / 60) * 2 * 1.96 * 0.058
    labels = y > 0.8
    classifier = TDAMPClassifier((64,), data_weight=20.0, max_epochs=40, random_state=0)
    share = labels[new].mean()
    guess = share * np.log(share) + (1 - share) * np.log(1 - share)
    assert classifier.fit(x[known], labels[known], weight).log_score(x[new], labels[new]) > guess - 0.1


@pytest.mark.parametrize("most", [8, 11])
def test_copies_of_whole_numbers_do_not_spoil_the_calibration(most: int) -> None:
    """calibration: 300 rows of six columns of whole numbers below ten, each there 8 times, or 8 to 11 times. Tolerances
    are those of the test above, for 300 rows; classes are predicted better than by their frequencies. With copies on
    both sides: 88 % and 1.27 nats, without a warning."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 10, (2300, 6)).astype(float)
    y = 0.3 * x[:, 0] - 0.2 * x[:, 1] + rng.normal(size=2300)
    known, new = np.repeat(np.arange(300), rng.integers(8, most + 1, 300)), slice(300, None)
    model = TDAMPRegressor((32,), data_weight=20.0, max_epochs=40, random_state=0).fit(x[known], y[known])
    low, high = model.predict_interval(x[new]).T
    inside = np.mean((low < y[new]) & (y[new] < high))
    assert abs(inside - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000) + 3 * np.sqrt(1 / 600) * 2 * 1.96 * 0.058
    labels = y > np.median(y)
    classifier = TDAMPClassifier((32,), data_weight=20.0, max_epochs=40, random_state=0).fit(x[known], labels[known])
    assert classifier.log_score(x[new], labels[new]) > np.log(0.5)
