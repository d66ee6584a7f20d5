"""What a training tells: records of the logger, callbacks, and what `verbose` shows.

covers: training.callbacks, training.logs
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from tdamp import Fitted, JsonLines, Network, Outcome, ScalarLogger, TDAMPRegressor, TrainingCallback, fit
from tdamp.training.logs import written_to
from tdamp.training.trainer import Trainer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] - np.abs(X[:, 1]) + 0.1 * RNG.normal(size=60)
SMALL: dict[str, Any] = {"max_epochs": 4, "random_state": 0}
QUICK: dict[str, Any] = {"early_stopping": False, **SMALL}


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_training_is_logged_from_start_to_end(tmp_path: Path) -> None:
    """contract: one start with the settings, every row of the history, one end, as JSON lines."""
    with written_to(tmp_path / "log.jsonl"):
        model = TDAMPRegressor((8,), **QUICK).fit(X, Y)
    start, *epochs, end = lines(tmp_path / "log.jsonl")
    assert (start["event"], start["rows"], start["widths"], start["max_epochs"]) == ("start", 60, [3, 8, 1], 4)
    assert start["batch_size"] == model.settings_.batch_size and start["message"].startswith("training starts")
    assert [record["event"] for record in epochs] == ["epoch"] * 4
    for record, row in zip(epochs, model.fitted_.history, strict=True):
        assert {name: record[name] for name in row} == row
    assert (end["event"], end["outcome"], end["epochs"], end["units"]) == ("end", "OK", 4, 11)
    assert {record["level"] for record in (start, *epochs, end)} == {"INFO"}


def test_trainings_that_judge_are_told_apart(tmp_path: Path) -> None:
    """contract: five twins at level DEBUG, each whole and in order, and the training that is kept at INFO."""
    with written_to(tmp_path / "log.jsonl"):
        model = TDAMPRegressor((8,), **SMALL).fit(X, Y)
    results: dict[str, list[dict[str, Any]]] = {}
    for record in lines(tmp_path / "log.jsonl"):
        results.setdefault(record["part"], []).append(record)
    assert set(results) == {"training", *(f"fold {k}" for k in range(1, 6))}
    for part, records in results.items():
        n = model.n_iter_ if part == "training" else 4
        assert [r["event"] for r in records] == ["start", *["epoch"] * n, "end"]
        assert {r["level"] for r in records} == {"INFO" if part == "training" else "DEBUG"}


def test_stops_and_compaction_are_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: a callback's stop, the monitor's, smaller arrays, and an end that went wrong."""
    caplog.set_level(logging.INFO, "tdamp")
    network, settings = Network((3, 8, 1)), replace(TDAMPRegressor((8,), **QUICK).fit(X, Y).settings_, patience=1)
    caplog.clear()
    x, y = X.astype(np.float32), Y.astype(np.float32)[:, None]
    fit(network, x, y, settings, callback=lambda epoch, *rest: epoch == 2)
    fit(network, x, y, settings, monitor=lambda fitted: -len(fitted.history))
    fields = [record.tdamp for record in caplog.records]
    stops = [(f["reason"], f["epoch"]) for f in fields if f["event"] == "stop"]
    assert stops == [("callback", 2), ("patience", 2)]
    assert [f["epoch"] for f in fields if f["event"] == "end"] == [2, 1]  # whose posterior is returned
    monkeypatch.setattr("tdamp.engine.compact.pays", lambda network, active, rows_left: network.widths[1] == 8)
    monkeypatch.setattr("tdamp.engine.compact.epochs_to_compile", lambda *any: 0)
    monkeypatch.setattr("tdamp.engine.compact.BUCKET", 1)
    monkeypatch.setattr("tdamp.engine.compact.SPARE", 0)
    caplog.clear()
    fit(network, x, y, replace(settings, max_epochs=6, keep=5))
    assert [r.tdamp["widths"][-1] for r in caplog.records if r.tdamp["event"] == "compaction"] == [1]
    caplog.clear()
    monkeypatch.setattr(Trainer, "_verdict", lambda self: Outcome.NOISE_AT_FLOOR)
    fit(network, x, y, settings)
    assert caplog.records[-1].tdamp["outcome"] == "NOISE_AT_FLOOR" and "data_weight" in caplog.messages[-1]


def test_nothing_is_logged_unasked() -> None:
    """contract: the library installs no handler that writes, and leaves level and propagation alone."""
    log = logging.getLogger("tdamp")
    assert [type(handler) for handler in log.handlers] == [logging.NullHandler]
    assert log.level == logging.NOTSET and log.propagate


def test_json_lines_hold_anything() -> None:
    """contract: numbers that are not finite, arrays, objects, errors and foreign records are a line of JSON each."""
    record = logging.LogRecord("tdamp", logging.INFO, "", 0, "said %d", (3,), None)
    record.tdamp = {"nan": float("nan"), "array": np.arange(2), "object": Outcome.OK}
    assert json.loads(JsonLines().format(record)) | {"time": ""} == {
        "time": "", "level": "INFO", "message": "said 3", "nan": None, "array": [0, 1], "object": "Training finished.",
    }  # fmt: skip
    try:
        raise ValueError("a\nb")
    except ValueError as error:
        other = logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), (ValueError, error, error.__traceback__))
    line = JsonLines().format(other)
    assert "\n" not in line and "ValueError: a\nb" in json.loads(line)["error"]


class Recorder:
    """A callback that remembers."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def on_start(self, info: dict[str, Any]) -> None:
        self.calls.append(info)

    def __call__(self, epoch: int, fitted: Fitted, record: dict[str, Any]) -> None:
        self.calls.append((epoch, record))

    def on_end(self, fitted: Fitted) -> None:
        self.calls.append(fitted)


def test_objects_and_functions_are_called() -> None:
    """contract: start, every epoch and end, with what the estimator ends with; a function beside it gets the epochs."""
    recorder: TrainingCallback = Recorder()
    seen: list[int] = []
    model = TDAMPRegressor((8,), callbacks=[recorder, lambda epoch, *rest: seen.append(epoch)], **QUICK).fit(X, Y)
    info, *epochs, fitted = recorder.calls
    assert (info["task"], info["rows"], info["widths"], info["prior"]) == ("regression", 60, (3, 8, 1), "gaussian")
    assert epochs == list(enumerate(model.fitted_.history, start=1)) and seen == [1, 2, 3, 4]
    assert fitted is model.fitted_


@pytest.mark.parametrize("when", ["on_start", "__call__", "on_end"])
def test_an_error_in_a_callback_reaches_the_caller(when: str) -> None:
    """contract: the same error, with a note of whose it is; no posterior is mixed with scales of other rows."""
    error = RuntimeError("disk full")

    class Broken(Recorder):
        pass

    def broken(self: Any, *rest: Any) -> None:
        raise error

    setattr(Broken, when, broken)
    model = TDAMPRegressor((8,), **QUICK).fit(X, Y)
    before = model.predict(X)
    model.set_params(callbacks=[Broken()], warm_start=True)
    with pytest.raises(RuntimeError) as caught:
        model.fit(X, Y)
    assert caught.value is error and "Broken object" in error.__notes__[0]
    np.testing.assert_array_equal(model.predict(X), before)  # goes on from where it was
    with pytest.raises(RuntimeError):
        model.set_params(warm_start=False).fit(10 * X, Y)
    np.testing.assert_array_equal(model.predict(X), before)


def add_scalar(tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
    """As TensorBoard's."""


def log_metric(key, value, step=None, synchronous=None, timestamp=None, run_id=None):
    """As MLflow's."""


def test_the_fake_writer_is_like_torch() -> None:
    """twin: PyTorch's own source has this signature, read without importing it (it wants TensorBoard)."""
    result = importlib.util.find_spec("torch")
    path = Path(result.origin).parent / "utils/tensorboard/writer.py"
    tree = ast.parse(path.read_text())
    names = [a.arg for n in ast.walk(tree) if getattr(n, "name", "") == "add_scalar" for a in n.args.args]
    assert names == ["self", *inspect.signature(add_scalar).parameters]


@pytest.mark.parametrize("like", [add_scalar, log_metric])
def test_numbers_reach_a_writer(like: Any) -> None:
    """contract: every number of the history by name and step, late held-out scores too; `start` gets the settings."""
    written: dict[tuple[str, int], float] = {}
    params: dict[str, Any] = {}

    def write(*given: Any, **more: Any) -> None:
        name, value, step = list(inspect.signature(like).bind(*given, **more).arguments.values())
        assert (name, step) not in written and type(value) is float
        written[name, step] = value

    logger = ScalarLogger(write, start=params.update)
    model = clone(TDAMPRegressor((8,), callbacks=[logger], **SMALL)).fit(X, Y)
    expected = {}
    for row in model.fitted_.history:
        for name, value in row.items():
            many = name == "active_units"  # inputs and hidden units; the one output has one noise level
            for i, number in enumerate(np.ravel(value).tolist()):
                expected[f"{name}/{i}" if many else name, row["epoch"]] = number
    assert written == {(name, step): v for (name, step), v in expected.items() if name != "epoch"}
    assert ("held_out", 1) in written and ("active_units/1", 1) in written and params["rows"] == 60


def test_verbose_0_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """contract: not a byte on either stream, from Python or below it."""
    TDAMPRegressor((8,), **SMALL).fit(X, Y).predict(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [1, 2])
def test_a_file_gets_no_control_characters(verbose: int, capfd: pytest.CaptureFixture[str]) -> None:
    """contract: what is not a terminal gets plain lines on the error stream: the bar once, or an epoch each."""
    TDAMPRegressor((8,), verbose=verbose, **QUICK).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == "" and all(character.isprintable() for line in err.split("\n") for character in line)
    assert err.count("epoch ") == (4 if verbose == 2 else 0) and ("4/4" in err) == (verbose == 1)
    assert len(err.splitlines()) == (4 if verbose == 2 else 1)
