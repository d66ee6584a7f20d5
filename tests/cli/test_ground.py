"""Arguments, test rows, scores and exit codes: what the commands stand on.

covers: cli.arguments, cli.exit_codes, cli.fit_output, cli.output, cli.predictions
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score

from tdamp._optional import MissingExtra
from tdamp.cli import arguments, exit_codes, output
from tdamp.cli.fit_output import coverage_meaning
from tdamp.cli.predictions import Predictions, held_from_json
from tdamp.estimators import Distribution
from tdamp.tables import MissingLibrary, TableError
from tdamp.training.equal_rows import drawn_rows


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("widths", "64,64", (64, 64)),
        ("widths", "16", (16,)),
        ("keep", "0.3", 0.3),
        ("keep", "30%", 0.3),
        ("keep", "40", 40),
        ("keep", "1.0", 1.0),
        ("keep", "1,0.3,0.3", (1.0, 0.3, 0.3)),
        ("count", "7", 7),
        ("share_of_rows", "0", 0.0),
        ("coverage", "0.9", 0.9),
        ("image", "8x6", (8, 6)),
        ("seed", "0", 0),
    ],
)
def test_arguments_that_are_understood(kind: str, text: str, expected: object) -> None:
    """contract: what each spelling means, its type included (1 unit is not a share of 1.0)."""
    found = getattr(arguments, kind)(text)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("widths", t) for t in ("", "0", "64,,64", "a", "-3")]
    + [("keep", t) for t in ("0", "1.5", "-0.1", "nan", "half", "0%", "2,0.5")]
    + [("count", t) for t in ("0", "-1", "1.5", "x")]
    + [("share_of_rows", t) for t in ("-0.1", "0.6", "nan", "x")]
    + [("coverage", t) for t in ("0", "1", "95", "nan")]
    + [("image", t) for t in ("8", "0x8", "8x", "axb")]
    + [("table_out", "a.xlsx"), ("seed", "-1"), ("seed", str(2**32))],
)
def test_arguments_that_are_refused(kind: str, text: str) -> None:
    """contract: the message repeats what was given."""
    with pytest.raises(argparse.ArgumentTypeError, match=r"expected|neither"):
        getattr(arguments, kind)(text)


def rows_of(y: np.ndarray) -> np.ndarray:
    """As many rows, all different."""
    return np.arange(len(y))[:, None]


@pytest.mark.parametrize("seed", range(5))
def test_test_rows_of_classes(seed: int) -> None:
    """identity: exactly a fifth of the rows, a fifth of each large class, and a row of each class is left."""
    y = np.random.default_rng(seed).permutation(np.repeat(["a", "b", "c", "d"], [100, 60, 3, 1]))
    test = drawn_rows(rows_of(y), y, 0.2, seed, classes=True)
    assert test.sum() == round(0.2 * len(y))
    assert abs((y[test] == "a").sum() - 20) <= 1 and abs((y[test] == "b").sum() - 12) <= 1
    assert set(y[~test]) == set(y)
    assert (test == drawn_rows(rows_of(y), y, 0.2, seed, classes=True)).all()


def test_every_class_is_trained_on_even_at_a_half() -> None:
    """identity: pairs are divided, and single rows stay in training."""
    y = np.array(["a", "a", "b", "b", "c"])
    test = drawn_rows(rows_of(y), y, 0.4, 0, classes=True)
    assert sorted(y[test]) == ["a", "b"]


def test_test_rows_of_numbers() -> None:
    """identity: the count; 0 takes none; another seed takes others."""
    y = np.arange(50.0)
    assert drawn_rows(rows_of(y), y, 0.3, 0, classes=False).sum() == 15
    assert not drawn_rows(rows_of(y), y, 0.0, 0, classes=False).any()
    assert (drawn_rows(rows_of(y), y, 0.3, 0, classes=False) != drawn_rows(rows_of(y), y, 0.3, 1, classes=False)).any()


LIGHT = 1e9
"""Degrees of freedom that make a Gaussian, and that JSON can hold."""


def _gaussian(rows: int = 40) -> tuple[np.ndarray, Predictions]:
    rng = np.random.default_rng(1)
    y, mean = rng.normal(size=rows), rng.normal(size=rows)
    return y, Predictions(
        Distribution(mean, *np.full((2, rows), [[0.3], [0.4]]), np.full(rows, LIGHT)), None, ("y",), None
    )


def test_scores_of_a_regression() -> None:
    """twin: scikit-learn's R2; coverage counted by hand with the std 0.5 = hypot(0.3, 0.4)."""
    y, found = _gaussian()
    scores = found.scores(y)
    assert found.found is not None
    assert scores["r2"] == pytest.approx(r2_score(y, found.found.mean))
    assert scores["rmse"] ** 2 == pytest.approx(np.mean((y - found.found.mean) ** 2))
    assert scores["coverage_95"] == np.mean(np.abs(y - found.found.mean) <= 1.959964 * 0.5)
    assert found.scores(np.full(40, 2.0))["r2"] is None  # no spread to explain


def test_scores_of_several_targets() -> None:
    """identity: the log score is the sum over targets, R2 their mean, and each has its RMSE."""
    y, one = _gaussian()
    assert one.found is not None
    both = Distribution(*(np.stack([part, 2 * part], 1) for part in one.found[:3]), np.full((len(y), 2), LIGHT))
    scores = Predictions(both, None, ("a", "b"), None).scores(np.stack([y, 2 * y], 1))
    alone = one.scores(y)
    assert scores["log_score"] == pytest.approx(2 * alone["log_score"] - np.log(2))
    assert scores["r2"] == pytest.approx(alone["r2"])
    assert scores["by_target"]["b"]["rmse"] == pytest.approx(2 * alone["rmse"])


def test_scores_of_classes() -> None:
    """twin: scikit-learn's accuracy and log loss."""
    rng = np.random.default_rng(2)
    classes = np.array(["a", "b", "c"])
    probs = rng.dirichlet(np.ones(3), 50)
    y = rng.choice(classes, 50)
    scores = Predictions(None, probs, ("y",), classes).scores(y)
    assert scores["accuracy"] == pytest.approx(accuracy_score(y, classes[probs.argmax(1)]))
    assert scores["log_score"] == pytest.approx(-log_loss(y, probs, labels=classes))


def test_stored_predictions_come_back() -> None:
    """identity: through JSON and back to seven digits."""
    y, found = _gaussian()
    held = held_from_json(json.loads(json.dumps(found.stored(y))), "test rows")
    assert found.found is not None
    np.testing.assert_allclose(held.y, y, rtol=1e-6)
    np.testing.assert_allclose(held.std, found.found.std, rtol=1e-6)


def test_intervals_that_are_too_narrow() -> None:
    """rate: 81 % of 70 rows lie 5 sds of a binomial count below 95 %, 90 % of 20 rows but one."""
    assert "too narrow" in coverage_meaning(0.81, 70)
    assert "too narrow" not in coverage_meaning(0.90, 20) and "too narrow" not in coverage_meaning(1.0, 1000)


def test_exit_codes() -> None:
    """contract: what is missing is 2, what is wrong with data is 1, a bug is nobody's message."""
    assert exit_codes.exit_code(exit_codes.CommandError("x", 130)) == 130
    assert exit_codes.exit_code(MissingExtra("x")) == exit_codes.exit_code(MissingLibrary("x")) == 2
    assert exit_codes.exit_code(PermissionError(13, "Permission denied", "there")) == 2
    assert exit_codes.exit_code(TableError("x")) == 1
    assert exit_codes.exit_code(ValueError("x")) is None and exit_codes.exit_code(KeyError("x")) is None
    assert exit_codes.error_message(PermissionError(13, "Permission denied", "there")).startswith(
        "there: Permission denied"
    )


def test_json_of_odd_values() -> None:
    """contract: NumPy's types become plain ones, and what is not finite null."""
    odd = {"a": np.float32(0.5), "b": np.array([1, 2]), "c": (float("nan"), float("inf")), 3: np.bool_(True)}
    assert output.plain(odd) == {"a": 0.5, "b": [1, 2], "c": [None, None], "3": True}


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is heard, also where these tests run in the background of a shell, which lets it be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupted:
    """Ctrl-C falls into its finaliser, whose errors Python ignores."""

    def __del__(self) -> None:
        raise KeyboardInterrupt


def wait_for_interrupt() -> None:
    """In short sleeps, after each of which Python looks for signals; ten minutes without one are too many."""
    for _ in range(60_000):
        time.sleep(0.01)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_that_python_ignores_comes_again() -> None:
    """identity: Ctrl-C inside a finaliser is lost to Python; the wait below would end without it."""
    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), exit_codes.repeat_lost_interrupts():
        Interrupted()
        wait_for_interrupt()
    assert sys.unraisablehook is before


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_that_comes_again_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: on a busy machine it falls into the hook, whose errors are ignored too: it comes a third time."""

    class Hasty(threading.Timer):
        """Its time is over before `start` is back, twice."""

        started = 0

        def start(self) -> None:
            Hasty.started += 1
            self.interval = 0.0 if Hasty.started < 3 else self.interval
            super().start()
            if Hasty.started < 3:
                wait_for_interrupt()

    monkeypatch.setattr(threading, "Timer", Hasty)
    with pytest.raises(KeyboardInterrupt), exit_codes.repeat_lost_interrupts():
        Interrupted()
        assert Hasty.started == 3
        wait_for_interrupt()


def test_ctrl_c_behind_another_error() -> None:
    """contract: itself, as a cause, as a context; not without it."""
    caused, around = SystemError("import"), ImportError("numpy")
    caused.__cause__ = KeyboardInterrupt()
    around.__context__ = caused
    assert all(map(exit_codes.is_interrupt, (KeyboardInterrupt(), caused, around)))
    assert not exit_codes.is_interrupt(None) and not exit_codes.is_interrupt(ValueError())
