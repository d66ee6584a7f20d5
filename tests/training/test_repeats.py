"""Equal rows: copies are recognised as such, and observations with equal inputs are not taken for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from tdamp import TDAMPClassifier, TrainingWarning
from tdamp.selection.cross_validation import folds_of
from tdamp.training.data import Data
from tdamp.training.equal_rows import drawn_rows, first_of_kinds, kinds_of
from tdamp.training.repeats import keys_of, repeats_by_design, repeats_of, warn_of_copies

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)).astype(np.float32)
Y = X[:, :1] + RNG.normal(size=(200, 1)).astype(np.float32)
LABELS = (Y[:, 0] > 0).astype(np.int32)


def test_keys_tell_rows_apart() -> None:
    """contract: rows that differ in one number, or in y, have keys of their own; equal ones share theirs."""
    x = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.0], [0.0, 1.0], [-0.0, 1.0]])
    y = np.array([[0.0], [0.0], [1.0], [0.0], [5.0], [5.0]])
    keys = keys_of(x, y)
    assert keys[0] == keys[3] and keys[4] == keys[5] and len(np.unique(keys)) == 4
    many = RNG.normal(size=(100_000, 1))
    assert len(np.unique(keys_of(many, np.zeros(100_000)))) == len(np.unique(many.astype(np.float32)))
    np.testing.assert_array_equal(keys_of(many, many), keys_of(many.astype(np.float32), many.astype(np.float32)))


def test_pieces_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: keys of rows hashed a few at a time."""
    whole = keys_of(X, Y)
    monkeypatch.setattr("tdamp.training.repeats.PIECE", 30)
    np.testing.assert_array_equal(keys_of(X, Y), whole)


def cells(rows: int, columns: int, values: int) -> np.ndarray:
    """Categories by numbers."""
    return RNG.integers(0, values, (rows, columns)).astype(float)


def flipped(y: np.ndarray, share: float) -> np.ndarray:
    """Labels of which a share is the other one."""
    return np.where(RNG.random(len(y)) < share, 1 - y, y).astype(int)


BITS, LEVELS, MANY = cells(800, 4, 2), cells(800, 1, 12), cells(800, 3, 6)
PARITY = BITS.sum(1) % 2
OFTEN_MANY, CUBE = cells(3000, 3, 6), np.stack(np.unravel_index(np.arange(216), (6, 6, 6)), 1).astype(float)
TRIPLES = cells(400, 3, 60)
COUNTS, MEASURED = cells(400, 6, 10), RNG.normal(size=(400, 1))
UNEVEN = np.repeat(np.arange(400), RNG.integers(7, 13, 400))
RATED = RNG.integers(0, 40, (400, 1)).astype(float)
THIRTY, FLAG = np.arange(800.0)[:, None] % 30, np.repeat(LABELS[:40], 20)
REPEATS = {
    "no two rows alike": (X, LABELS, False),
    "categories, noisy labels": (BITS, flipped(PARITY, 0.2), True),
    "categories, labels without noise": (BITS, PARITY.astype(int), True),
    "some 200 cells, noisy labels": (MANY, flipped(MANY[:, 0] > 2, 0.2), True),
    "one category, labels without noise": (LEVELS, (LEVELS[:, 0] > 5).astype(int), True),
    "one category of thirty, labels without noise": (THIRTY, (THIRTY[:, 0] > 9).astype(int), True),
    "one category of thirty-one": (np.arange(800.0)[:, None] % 31, np.arange(800) % 31 % 2, False),
    "categories, ratings": (MANY, np.clip(np.round(MANY[:, :1] + RNG.normal(size=(800, 1))), 1, 5), True),
    "categories, measured": (BITS, RNG.normal(size=(800, 1)), False),
    "categories, measured, copied": (np.repeat(BITS[:200], 4, 0), np.repeat(RNG.normal(size=(200, 1)), 4, 0), False),
    "copied": (np.repeat(X, 4, 0), np.repeat(Y, 4, 0), False),
    "copied, classes": (np.repeat(X, 4, 0), np.repeat(LABELS, 4), False),
    "copied twenty times, classes": (np.repeat(X[:40], 20, 0), np.repeat(LABELS[:40], 20), False),
    "copied twenty times, with a flag": (np.column_stack([np.repeat(X[:40, :1], 20, 0), FLAG]), FLAG, False),
    "counts copied eight times": (np.tile(COUNTS, (8, 1)), np.tile(MEASURED, (8, 1)), False),
    "counts copied eight times, classes": (np.tile(COUNTS, (8, 1)), np.tile(MEASURED[:, 0] > 0, 8).astype(int), False),
    "counts copied seven to twelve times": (COUNTS[UNEVEN], MEASURED[UNEVEN], False),
    "counts copied seven to twelve times, classes": (COUNTS[UNEVEN], (MEASURED[UNEVEN, 0] > 0).astype(int), False),
    "categories, forty ratings, copied": (np.tile(BITS[:400], (8, 1)), np.tile(RATED, (8, 1)), False),
    "copies of 400 of 216,000 cells, classes": (TRIPLES[UNEVEN], (TRIPLES[UNEVEN, 0] > 29).astype(int), False),
    "some 200 cells, labels without noise": (OFTEN_MANY, (OFTEN_MANY.sum(1) % 2).astype(int), True),
    "some 200 cells measured once, copied": (CUBE[UNEVEN[UNEVEN < 216]], MEASURED[UNEVEN[UNEVEN < 216]], False),
    "the rarer class copied": (
        np.concatenate([X, np.repeat(X[LABELS == 1][:9], 30, 0)]), np.concatenate([LABELS, np.ones(270, int)]), False
    ),
}  # fmt: skip
"""A table, and whether its equal rows are observations of their own."""


@pytest.mark.parametrize("table", REPEATS)
def test_copies_and_repeated_inputs_are_told_apart(table: str) -> None:
    """contract: of repeated inputs each row is a kind of its own, of copies all are one."""
    x, y, expected = REPEATS[table]
    assert repeats_by_design(x, y) == expected
    order = RNG.permutation(len(x))
    assert repeats_by_design(x[order], y[order]) == expected
    assert len(np.unique(kinds_of(x, y))) == (len(x) if expected else len(np.unique(np.column_stack([x, y]), axis=0)))
    np.testing.assert_array_equal(np.sort(kinds_of(x[order], y[order])), np.sort(kinds_of(x, y)))


@pytest.mark.parametrize("table", [name for name in REPEATS if "nois" in name and "without" not in name])
def test_a_table_of_categories_that_was_copied_as_a_whole(table: str) -> None:
    """contract: eight copies of a table that repeats by design are as many kinds as it has rows, eight rows each,
    and none of them is on both sides."""
    x, y, _ = REPEATS[table]
    x, y = np.tile(x, (8, 1)), np.tile(y, 8)
    assert repeats_of(x, y) == (True, 8, "")
    kinds, counts = np.unique(kinds_of(x, y), return_counts=True)
    assert len(kinds) == 800 and (counts == 8).all()
    held = drawn_rows(x, y, 0.2, 0, classes=True)
    assert held.sum() == 1280 and not np.isin(kinds_of(x, y)[held], kinds_of(x, y)[~held]).any()


@pytest.mark.parametrize("table", REPEATS)
def test_kinds_by_their_first_rows(table: str) -> None:
    """twin: rows share a place in the list exactly where they share a kind."""
    x, y, _ = REPEATS[table]
    first, kind = first_of_kinds(x, y)
    pairs = np.unique(np.column_stack([kind, np.unique(kinds_of(x, y), return_inverse=True)[1]]), axis=0)
    assert len(first) == len(pairs) == pairs[:, 0].max() + 1 == pairs[:, 1].max() + 1
    np.testing.assert_array_equal(kind[first], np.arange(len(first)))


IN_DOUBT = {
    "a few rows of few values, copied": (np.tile(CUBE[:12], (20, 1)), np.tile(MEASURED[:12], (20, 1))),
    "labels without noise": REPEATS["categories, labels without noise"][:2],
    "some 200 cells, labels without noise": REPEATS["some 200 cells, labels without noise"][:2],
    "three categories, noisy labels, copied": (np.tile(LEVELS[:24] % 3, (10, 1)), np.tile(LABELS[:24], 10)),
}
"""Tables of which it cannot be known whether their rows were copied."""


@pytest.mark.parametrize("table", IN_DOUBT)
def test_what_cannot_be_told_apart_is_warned_of(table: str) -> None:
    """contract: they are taken for observations, and a warning says what to do if they are not."""
    x, y = IN_DOUBT[table]
    assert repeats_by_design(x, y)
    with pytest.warns(TrainingWarning, match="Use the table without the copies") as caught:
        warn_of_copies(x, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("table", [name for name in REPEATS if "without noise" not in name])
def test_what_is_clear_is_not_warned_of(table: str) -> None:
    """contract: neither are copies warned of, which are kept together, nor repeated inputs with several targets."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_copies(*REPEATS[table][:2])


def test_an_estimator_warns_of_rows_that_may_be_copies() -> None:
    """contract: the warning is one of the line that calls `fit`; a fit that judges by no row has nothing to warn of."""
    x, y = IN_DOUBT["three categories, noisy labels, copied"]
    with pytest.warns(TrainingWarning, match="each of its 6 different rows occurs a multiple of 10 times") as caught:
        TDAMPClassifier((4,), max_epochs=1, random_state=0).fit(x, y)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TDAMPClassifier((4,), max_epochs=1, early_stopping=False, random_state=0).fit(x, y)


@pytest.mark.parametrize("make", [lambda: REPEATS["some 200 cells, noisy labels"][:2], lambda: (X, LABELS)])
def test_folds_leave_copies_together(make: Callable[[], tuple[np.ndarray, np.ndarray]]) -> None:
    """contract: five folds of eight copies of a table, of categories or of measurements, have no kind in common."""
    x, y = make()
    data = Data(np.tile(x, (8, 1)), np.tile(y, 8).astype(np.int32), np.ones(8 * len(x)))
    fold, kinds = folds_of(data, 0), kinds_of(data.x, data.y)
    assert len(np.unique(np.column_stack([kinds, fold.astype(np.uint64)]), axis=0)) == len(x)
    assert np.ptp(np.bincount(fold)) <= 16
