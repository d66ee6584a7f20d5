"""`tdamp fit` in this process: what it stores and says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

import tdamp
from helpers.command_examples import SMALL, Example, call, csv, files, houses
from tdamp.estimators import TDAMPRegressor
from tdamp.tables import Encoder, read_table
from tdamp.training import checkpoint
from tdamp.training.equal_rows import drawn_rows
from tdamp.training.events import KEPT


def test_facts(regression: Example) -> None:
    """identity: rows add up, sizes follow from the widths, and keep is met."""
    assert regression.result.code == 0, regression.result.err
    result = regression.result.json
    assert (result["train_rows"], result["test_rows"], result["task"]) == (120, 30, "regression")
    asked, left = result["size"]["asked"], result["size"]["left"]
    # area, district (3), sold, garden and its mark
    assert asked["widths"] == [7, 16, 1] and asked["parameters"] == 8 * 16 + 17
    assert left["widths"] == [7, 8, 1] and left["units"] == 15 and result["groups"] == [8, 16]  # inputs are spared
    assert any("garden" in note and "missing" in note for note in result["notes"])
    assert "garden" in regression.result.err  # the notes are printed too, beside the JSON


def test_test_score_is_of_rows_not_trained_on(regression: Example) -> None:
    """twin: the stored model, applied to the rows that the same draw leaves out, scores what was reported."""
    frame = read_table(regression.data)
    x, y = Encoder.fit(frame, "price").pairs(frame)
    test = drawn_rows(x, y, 0.2, 0, classes=False)
    estimator = tdamp.load(regression.model)
    mean = estimator.predict(pd.DataFrame(x[test], columns=estimator.feature_names_in_))
    assert regression.result.json["test"]["r2"] == pytest.approx(r2_score(y[test], mean), rel=1e-5)
    np.testing.assert_allclose(estimator.x_mean_, x[~test].mean(0), rtol=1e-6)  # scales of training rows alone


def test_a_category_stays_or_goes_as_one(regression: Example) -> None:
    """identity: of each column's inputs all remain or none."""
    for column in call("inspect", regression.model, "--json").json["columns"]:
        assert column["left"] in (0, column["inputs"]), column


def test_log(regression: Example, tmp_path: Path) -> None:
    """identity: a line for every epoch of the stored history, at the end of the file; a bad place is told at once."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"before": true}\n')
    again = ["fit", regression.data, "--target", "price", "--keep", "0.5", "--quiet", *SMALL, "--out", tmp_path / "m"]
    assert call(*again, "--log", log).code == 0
    first, *records = [json.loads(line) for line in log.read_text().splitlines()]
    last = [record for record in records if record["part"] == KEPT]  # not those of the folds
    epochs = [record["log_evidence"] for record in last if record["event"] == "epoch"]
    assert first == {"before": True} and records[-1]["event"] == "end"
    assert epochs == [row["log_evidence"] for row in tdamp.load(tmp_path / "m").fitted_.history]
    result = call(*again, "--force", "--log", tmp_path / "none" / "log.jsonl")
    assert result.code == 2 and "none/log.jsonl: No such file" in result.err


def test_classes(classification: Example) -> None:
    """identity: text targets make a classification with these classes, scored as one."""
    assert classification.result.code == 0, classification.result.err
    result = classification.result.json
    assert result["task"] == "classification"
    assert set(result["test"]) == {"rows", "accuracy", "accuracy_of_commonest", "log_score", "ece"}
    assert list(tdamp.load(classification.model).classes_) == ["high", "low", "middle"]


def test_noise_by_row(tmp_path: Path, classification: Example) -> None:
    """identity: the estimator has the noise asked for; a classification says that it has none."""
    data = csv(tmp_path, "h.csv", houses(60))
    result = call("fit", data, "--target", "price", "--noise", "varying", "--out", tmp_path / "m", *SMALL)
    assert result.code == 0, result.err
    assert tdamp.load(tmp_path / "m").noise == "varying"
    result = call("fit", classification.data, "--target", "band", "--noise", "varying", "--out", tmp_path / "c", *SMALL)
    assert result.code == 2 and "belongs to a regression" in result.err and not (tmp_path / "c").exists()


def test_counts(tmp_path: Path) -> None:
    """identity: with few different whole numbers, too, a target of --likelihood poisson is one of counts, through every
    command; a contradiction and numbers that are no counts are told."""
    frame = houses(150).drop(columns=["band"])
    frame["visits"] = np.random.default_rng(0).poisson(frame.pop("price") / frame["area"] / 4)
    assert frame["visits"].nunique() < 8  # a guess would be classes
    data, model = csv(tmp_path, "visits.csv", frame), tmp_path / "m"
    plain = ["fit", data, "--target", "visits", "--likelihood", "poisson", *SMALL, "--out", model]
    result = call(*plain)
    assert result.code == 0, result.err
    assert "Noise level: none" in result.out
    assert tdamp.load(model).network_.output.name == "poisson"
    rows = call("predict", model, data, "--json").json["predictions"]
    assert all(row["mean"] > 0 and row["low"] == int(row["low"]) >= 0 for row in rows)
    assert call("inspect", model, "--json").json["noise_std"] == []
    export = call("export", model, "--to", "numpy", "--out", tmp_path / "visits.py", "--json")
    assert export.code == 0 and export.json["difference"] < 1e-4
    for more, code, message in (
        (["--task", "classification"], 2, "leave out --task classification"),
        (["--noise", "varying"], 2, "leave out --noise varying"),
        (["--target", "area"], 1, "y has numbers that are no counts"),
    ):
        result = call(*plain, "--force", *more)
        assert result.code == code and message in result.err, result.err


def test_text_for_people(tmp_path: Path) -> None:
    """golden(what a first user must find): notes, sizes, scores and the next commands; two targets; force."""
    data = csv(tmp_path, "h.csv", houses(150))
    arguments = ["fit", data, "--target", "price", "--target", "garden", "--drop", "band", "--out", tmp_path / "a b"]
    result = call(*arguments, *SMALL)
    assert result.code == 0, result.err
    for part in ("asked for", "R2 of price", "RMSE of garden", "tdamp predict '", "test rows", "Noise level"):
        assert part in result.out
    assert "missing in" in result.out  # garden is a target, so rows without it are left out
    before = files(tmp_path / "a b")
    refused = call(*arguments, *SMALL)
    assert refused.code == 2 and "--force" in refused.err and files(tmp_path / "a b") == before
    again = call(*arguments, *SMALL, "--force", "--quiet", "--seed", "1", "--test-fraction", "0")
    assert (again.code, again.out) == (0, "") and files(tmp_path / "a b") != before
    assert call("inspect", tmp_path / "a b", "--json").json["test"] is None
    report = call("report", tmp_path / "a b", "--out", tmp_path / "r.html")
    assert report.code == 0 and "nothing is scored" in report.err
    table = call("predict", tmp_path / "a b", data, "--json").json
    assert set(table["predictions"][0]) == {
        f"{t}_{p}" for t in ("price", "garden") for p in ("mean", "std", "low", "high")
    }


def test_interrupted(regression: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: Ctrl-C during training gives 130, no traceback, and leaves the old model byte for byte."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TDAMPRegressor, "fit", stopped)
    before = files(regression.model)
    result = call("fit", regression.data, "--target", "price", "--out", regression.model, "--force", *SMALL)
    assert result.code == 130 and "as it was" in result.err and "Traceback" not in result.err
    assert files(regression.model) == before


def test_goes_on_from_a_checkpoint(regression: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the model without checkpoints, bit for bit, after Ctrl-C in the second epoch; the checkpoint goes."""
    place = tmp_path / "c"
    plain = ["fit", regression.data, "--target", "price", "--keep", "0.5", "--prior", "group", *SMALL, "--json"]
    assert call(*plain, "--out", tmp_path / "whole").code == 0
    again = [*plain, "--checkpoint", place]
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)
    save = checkpoint.Stage.save

    def stopping(*arguments: Any) -> None:
        save(*arguments)
        if arguments[1] == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Stage, "save", stopping)
        result = call(*again, "--out", tmp_path / "m")
    assert result.code == 130 and f"the same command goes on from the checkpoint in {place}" in result.err
    assert sorted(path.name[:9] for path in place.iterdir()) == ["start-000", "training-", "training-"]
    result = call(*again, "--seed", "1", "--out", tmp_path / "m")
    assert result.code == 2 and "Traceback" not in result.err
    assert "another training (seed differs; x differs" in result.err
    result = call(*again, "--out", tmp_path / "m")
    assert result.code == 0 and not place.exists()
    assert (tmp_path / "m/model.safetensors").read_bytes() == (tmp_path / "whole/model.safetensors").read_bytes()


def test_where_a_checkpoint_cannot_be(regression: Example, tmp_path: Path) -> None:
    """contract: in the model's folder, in a file's place and where nothing can be written: told at once."""
    out, file = tmp_path / "m", tmp_path / "file"
    file.write_text("mine")
    places = {out: "choose a folder outside", out / "c": "choose a folder outside", file: "file is in the way"}
    for place, words in {**places, Path("/proc/nowhere"): "cannot be written"}.items():
        result = call("fit", regression.data, "--target", "price", "--out", out, "--checkpoint", place, *SMALL)
        assert result.code == 2 and words in result.err and result.err.count("\n") == 1 and result.out == ""
    assert not out.exists() and file.read_text() == "mine"


def test_impossible_settings(regression: Example, tmp_path: Path) -> None:
    """identity: more units than there are, and shares for layers that are not there, are told without a traceback."""
    for keep in ("900", "1,0.3,0.3,0.3"):
        result = call("fit", regression.data, "--target", "price", "--out", tmp_path / "m", "--keep", keep, *SMALL)
        assert result.code == 1 and result.err.splitlines()[-1].startswith("tdamp: ") and "keep" in result.err
        assert not (tmp_path / "m").exists()


def test_groups_are_said(regression: Example, tmp_path: Path) -> None:
    """identity: what is left of what --keep counts, after the training, in `inspect` and in the report; columns that
    may go are a group each."""
    goal = ["--keep", "0.5", "--prune-inputs", "--out", tmp_path / "m", *SMALL[:2], "--epochs", "6"]
    result = call("fit", regression.data, "--target", "price", *goal)
    assert result.code == 0, result.err
    assert "Pruned to 10 of 20 groups (inputs and hidden units; the inputs of one column are a group)" in result.out
    assert " before and " in result.out
    shown = call("inspect", tmp_path / "m")
    assert all(
        row.split()[-2:] == ["20", "10"] for row in (result.out + shown.out).splitlines() if "keep counts" in row
    )
    assert shown.out.count("groups (what keep counts)") == 1
    assert call("report", tmp_path / "m", "--out", tmp_path / "r.html").code == 0
    assert "10 of 20" in (tmp_path / "r.html").read_text() and "Lost by pruning" in (tmp_path / "r.html").read_text()


def test_the_paper_may_prune_columns(regression: Example, tmp_path: Path) -> None:
    """contract: its rule counts inputs as units that may go, so that no further option is needed."""
    paper = ["--preset", "paper", "--keep", "0.5", "--out", tmp_path / "m", "--json", *SMALL]
    result = call("fit", regression.data, "--target", "price", *paper)
    assert result.code == 0, result.err
    assert result.json["groups"][1] == 16 + 4  # hidden units and columns
    assert tdamp.load(tmp_path / "m").prune_inputs


def _broken(frame: pd.DataFrame, case: str) -> pd.DataFrame:
    text = frame.astype(object)
    if case == "cell":
        text.loc[3, "area"] = "big"
    elif case == "constant":
        text["price"] = 7.5
    elif case == "infinite":
        text.loc[5, "price"] = "1e999"
    elif case == "no target":
        text["price"] = None
    elif case == "one class":
        text["band"] = "low"
    elif case == "dates":
        text["price"] = text["sold"]
    elif case == "few":
        text = text.iloc[:2]
    return text


@pytest.mark.parametrize(
    ("case", "target", "words"),
    [
        ("cell", "price", "column area, line 5: 'big' is not a number"),
        ("constant", "price", "every row has the value 7.5"),
        ("infinite", "price", "infinite or too large"),
        ("no target", "price", "missing in every row"),
        ("one class", "band", "nothing to tell apart"),
        ("dates", "price", "dates cannot be predicted"),
        ("few", "price", "--test-fraction 0"),
    ],
)
def test_faults_of_the_data(case: str, target: str, words: str, tmp_path: Path) -> None:
    """contract: each fault ends with 1 and one line that names the file and the fault; nothing is written."""
    data = csv(tmp_path, "h.csv", _broken(houses(40), case))
    result = call("fit", data, "--target", target, "--out", tmp_path / "m", *SMALL)
    assert result.code == 1 and words in result.err and "h.csv" in result.err and result.out == ""
    assert result.err.startswith("tdamp: ") and result.err.count("\n") <= 2
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"--target": "prise"}, "Did you mean 'price'?"),
        ({"--drop": "gardn"}, "Did you mean 'garden'?"),
        ({"data": "hauses.csv"}, "Did you mean 'houses.csv'?"),
        ({"data": "."}, "not a file"),
        ({"--hidden": "wide"}, "such as 64,64"),
        ({"--keep": "3.5"}, "such as 0.3"),
        ({"--task": "guess"}, "invalid choice"),
        ({"--out": "houses.csv"}, "choose another folder"),
        ({"--out": "houses.csv/m"}, "cannot be written"),
        ({"--out": "full"}, "choose a new or empty folder"),
        ({"--epochs": "0"}, "at least 1"),
        ({"--keep": "0.5", "--max-params": "90"}, "not allowed with argument --keep"),
        ({"--max-multiply-adds": "80", "--max-params": "90"}, "not allowed with argument"),
    ],
)
def test_wrong_usage(change: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: each mistake ends with 2 before any training, and the message helps."""
    monkeypatch.chdir(tmp_path)
    csv(tmp_path, "houses.csv", houses(40))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    options = {"data": "houses.csv", "--target": "price", "--out": "m"} | change
    result = call("fit", options.pop("data"), *(part for pair in options.items() for part in pair))
    assert result.code == 2 and words in result.err and result.err.startswith("tdamp: ") and result.out == ""
    assert (tmp_path / "full" / "notes.txt").read_text() == "mine" and not (tmp_path / "m").exists()


def test_empty_files(tmp_path: Path) -> None:
    """contract: nothing at all, and a header alone."""
    for content, words in (("", "is empty"), ("a,b\n", "no rows")):
        (tmp_path / "e.csv").write_text(content)
        result = call("fit", tmp_path / "e.csv", "--target", "a", "--out", tmp_path / "m")
        assert result.code == 1 and words in result.err
