"""`tdamp predict` in this process.

covers: cli.files, cli.inspect
"""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import tdamp
from helpers.command_examples import Example, call, csv, houses
from tdamp.persistence.save import load_with_extra
from tdamp.tables import Encoder, read_table


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Rows that no model has seen, with their targets."""
    return csv(tmp_path, "new.csv", houses(30, seed=1))


def test_intervals(regression: Example, new: Path) -> None:
    """twin: the estimator's own interval on the encoder's rows; CSV rounds to a ten-thousandth of the std."""
    result = call("predict", regression.model, new, "--interval", "0.8")
    assert result.code == 0, result.err
    table = pd.read_csv(io.StringIO(result.out))
    estimator, extra = load_with_extra(regression.model)
    x = pd.DataFrame(
        Encoder.from_json(extra["encoder"]).transform(read_table(new)), columns=estimator.feature_names_in_
    )
    expected = estimator.predict_interval(x, 0.8)  # type: ignore[union-attr]
    assert list(table.columns) == ["mean", "std", "low", "high"] and len(table) == 30
    np.testing.assert_allclose(table[["low", "high"]], expected, atol=1e-3 * table["std"].min())
    dof = estimator.predict_distribution(x).dof  # type: ignore[union-attr]
    reach = t.ppf(0.9, dof) * np.sqrt((dof - 2) / dof)
    np.testing.assert_allclose(table["high"] - table["mean"], reach * table["std"], rtol=1e-3)


def test_classes(classification: Example, new: Path) -> None:
    """identity: the class is the likeliest, probabilities sum to one."""
    result = call("predict", classification.model, new, "--json").json
    for row in result["predictions"]:
        probs = {name: value for name, value in row.items() if name.startswith("p_")}
        assert list(probs) == ["p_high", "p_low", "p_middle"]
        assert sum(probs.values()) == pytest.approx(1) and f"p_{row['class']}" == max(probs, key=probs.__getitem__)
    right = [row["class"] for row in result["predictions"]] == houses(30, seed=1)["band"]
    assert result["scores"]["accuracy"] == pytest.approx(right.mean())


def test_files_hold_what_is_printed(regression: Example, new: Path, tmp_path: Path) -> None:
    """identity: CSV, Parquet and JSON agree; with --out there are no rows on standard output."""
    rows = pd.DataFrame(call("predict", regression.model, new, "--json").json["predictions"])
    for name in ("p.csv", "sub/p.parquet"):
        result = call("predict", regression.model, new, "--out", tmp_path / name)
        assert result.code == 0 and result.out.count("\n") == 1
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv"), rows, atol=1e-4 * rows["std"].min(), rtol=0)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "sub" / "p.parquet"), rows)
    assert call("predict", regression.model, new, "--out", tmp_path / "p.csv", "--json").json["out"].endswith("p.csv")


def test_scores_only_where_the_target_is(regression: Example, new: Path, tmp_path: Path) -> None:
    """identity: scores with the target, on the rows that have it; none without."""
    frame = pd.read_csv(new)
    result = call("predict", regression.model, new)
    assert "RMSE" in result.err and "RMSE" not in result.out
    half = csv(tmp_path, "half.csv", frame.assign(price=frame["price"].where(frame.index < 12)))
    actual = call("predict", regression.model, half, "--json").json
    assert (actual["rows"], actual["scores"]["rows"]) == (30, 12)
    first = csv(tmp_path, "first.csv", frame.iloc[:12])
    assert actual["scores"]["rmse"] == pytest.approx(
        call("predict", regression.model, first, "--json").json["scores"]["rmse"]
    )
    for none in (frame.drop(columns="price"), frame.assign(price=None)):
        assert call("predict", regression.model, csv(tmp_path, "none.csv", none), "--json").json["scores"] is None
    assert "RMSE" not in call("predict", regression.model, new, "--no-scores").err


def test_other_columns(regression: Example, new: Path, tmp_path: Path) -> None:
    """contract: a lacking column ends with 1; a new one, a new level and a new gap are told and predicted."""
    frame = pd.read_csv(new)
    lacking = call("predict", regression.model, csv(tmp_path, "l.csv", frame.drop(columns="area")))
    assert lacking.code == 1 and "no column 'area'" in lacking.err and lacking.out == ""
    odd = frame.assign(weather="fine", district="moon", area=frame["area"].where(frame.index != 4))
    result = call("predict", regression.model, csv(tmp_path, "o.csv", odd))
    assert result.code == 0 and result.out.count("\n") == 31
    for word in ("weather", "moon", "area"):
        assert word in result.err
    wrong = call("predict", regression.model, csv(tmp_path, "w.csv", frame.assign(area="big")))
    assert wrong.code == 1 and "column area, line 2: 'big' is not a number" in wrong.err


def test_unknown_class(classification: Example, new: Path, tmp_path: Path) -> None:
    """contract: a class that training had not cannot be scored, but the rows can be predicted."""
    data = csv(tmp_path, "c.csv", pd.read_csv(new).assign(band="palace"))
    result = call("predict", classification.model, data)
    assert result.code == 1 and "'palace' was not among those of training" in result.err and result.out == ""
    assert call("predict", classification.model, data, "--no-scores").code == 0


def test_places(regression: Example, new: Path, tmp_path: Path) -> None:
    """contract: what cannot or must not be written to, and what is not there."""
    before = new.read_bytes()
    for out, words in ((new, "is the table that is read"), (new / "x.csv", "cannot be written"), ("p.txt", ".parquet")):
        result = call("predict", regression.model, new, "--out", out)
        assert result.code == 2 and words in result.err and result.out == ""
    assert new.read_bytes() == before
    assert call("predict", tmp_path / "nowhere", new).code == 2
    assert call("predict", regression.model, tmp_path / "nowhere.csv").code == 2


def test_models_that_cannot_be_read(regression: Example, new: Path, tmp_path: Path) -> None:
    """contract: damaged data, a newer schema, a changed encoder, a foreign folder, a model without encoder."""

    def changed(name: str, change: object) -> tuple[int, str]:
        folder = tmp_path / name
        shutil.copytree(regression.model, folder)
        config = json.loads((folder / "config.json").read_text())
        config.update(change(config))  # type: ignore[operator]
        del config["config_sha256"]  # as someone does who means the change
        (folder / "config.json").write_text(json.dumps(config))
        result = call("predict", folder, new)
        assert result.out == "" and result.err.startswith("tdamp: ") and result.err.count("\n") <= 2
        return result.code, result.err

    code, words = changed("newer", lambda config: {"schema": 999})
    assert code == 1 and "newer tdamp" in words
    code, words = changed("encoder", lambda config: {"extra": {"encoder": {"format": "?"}}})
    assert code == 1 and "encoder is damaged" in words
    code, words = changed("none", lambda config: {"extra": {}})
    assert code == 1 and "saved from Python" in words

    shutil.copytree(regression.model, tmp_path / "torn")
    data = (tmp_path / "torn" / "model.safetensors").read_bytes()
    (tmp_path / "torn" / "model.safetensors").write_bytes(data[:-9])
    result = call("predict", tmp_path / "torn", new)
    assert result.code == 1 and "damaged or truncated" in result.err
    result = call("predict", tmp_path, new)
    assert result.code == 1 and "not a tdamp model" in result.err


def test_model_saved_from_python(regression: Example, tmp_path: Path) -> None:
    """identity: a folder without encoder and facts can still be inspected, exported and reported."""
    tdamp.save(tdamp.load(regression.model), tmp_path / "m")
    result = call("inspect", tmp_path / "m", "--json").json
    assert result["size"] == call("inspect", regression.model, "--json").json["size"] and len(result["columns"]) == 7
    assert call("inspect", tmp_path / "m").code == 0
    assert call("export", tmp_path / "m", "--to", "numpy", "--out", tmp_path / "m.py").code == 0
    assert call("report", tmp_path / "m", "--out", tmp_path / "r.html").code == 0


def test_copied_columns(regression: Example, new: Path) -> None:
    """identity: cells of the input stand before the predictions of their rows; wrong names are told."""
    result = call("predict", regression.model, new, "--copy", "sold", "band")
    table, frame = pd.read_csv(io.StringIO(result.out)), pd.read_csv(new)
    assert list(table.columns) == ["sold", "band", "mean", "std", "low", "high"]
    assert (table[["sold", "band"]] == frame[["sold", "band"]]).all(axis=None)
    wrong = call("predict", regression.model, new, "--copy", "sould")
    assert wrong.code == 2 and "Did you mean 'sold'?" in wrong.err and wrong.out == ""


def test_the_training_file_is_recognised(regression: Example, new: Path) -> None:
    """identity: scores on the file of the fit are said to flatter, those on another are not."""
    assert "flatter" in call("predict", regression.model, regression.data).err
    assert "flatter" not in call("predict", regression.model, new).err
