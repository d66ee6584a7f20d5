"""`tdamp report`, `inspect`, `export` and `data` in this process.

covers: cli.data, cli.export, cli.export_check
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tdamp
from helpers.command_examples import Example, call, csv, houses
from tdamp.cli import export_check
from tdamp.cli.data import as_table
from tdamp.cli.exit_codes import CommandError
from tdamp.datasets import catalog
from tdamp.export import Plain
from tdamp.persistence.save import load_with_extra
from tdamp.tables import Encoder, read_table


def test_report_of_the_test_rows(regression: Example, classification: Example, tmp_path: Path) -> None:
    """identity: the page shows the scores that `fit` reported, and says on which rows."""
    result = call("report", regression.model, "--out", tmp_path / "r.html")
    assert result.code == 0, result.err
    page = (tmp_path / "r.html").read_text()
    assert "30 test rows of houses.csv" in page and "price from houses.csv" in page
    assert f"{regression.result.json['test']['rmse']:.3g}" in page
    assert f"{regression.result.json['noise_std'][0]:.3g}" in page  # in the units of price
    assert call("report", classification.model, "--out", tmp_path / "sub" / "c.html").code == 0
    assert "30 test rows of bands.csv" in (tmp_path / "sub" / "c.html").read_text()


def test_report_of_other_rows(regression: Example, tmp_path: Path) -> None:
    """identity: the page shows the scores that `predict` gives; the training file is recognised."""
    new = csv(tmp_path, "new.csv", houses(30, seed=1))
    result = call("report", regression.model, new, "--out", tmp_path / "r.html")
    assert result.code == 0 and "not used in training" in result.err
    rmse = call("predict", regression.model, new, "--json").json["scores"]["rmse"]
    page = (tmp_path / "r.html").read_text()
    assert f"{rmse:.3g}" in page and "30 rows of new.csv" in page
    same = call("report", regression.model, regression.data, "--out", tmp_path / "s.html")
    assert "flatter" in same.err and "flatter" in (tmp_path / "s.html").read_text()


def test_report_refuses(regression: Example, tmp_path: Path) -> None:
    """contract: an image of another size, a table without target, a folder as file."""
    assert "7 inputs" in call("report", regression.model, "--image", "8x8", "--out", tmp_path / "r.html").err
    bare = csv(tmp_path, "bare.csv", houses(9).drop(columns="price"))
    result = call("report", regression.model, bare, "--out", tmp_path / "r.html")
    assert result.code == 1 and "no column 'price'" in result.err
    assert call("report", regression.model, "--out", tmp_path).code == 2
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("to", ["onnx", "torch", "numpy"])
@pytest.mark.parametrize("which", ["regression", "classification"])
def test_export(to: str, which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """twin: the file agrees with the library on random rows, and the table has the sizes of the model."""
    example: Example = request.getfixturevalue(which)
    result = call("export", example.model, "--to", to, "--out", tmp_path / "f", "--json")
    assert result.code == 0, result.err
    actual = result.json
    assert 0 <= actual["difference"] < 1e-3
    sizes = {row["what"]: row for row in actual["size"]}
    left = call("inspect", example.model, "--json").json["size"]["left"]
    assert sizes["parameters"]["after"] == left["parameters"]
    assert sizes[f"bytes of {to}"]["after"] == (tmp_path / "f").stat().st_size


def test_exported_file_predicts(regression: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the NumPy file, under its usual name, on encoded rows gives what `tdamp predict` prints."""
    monkeypatch.chdir(tmp_path)
    result = call("export", regression.model, "--to", "numpy")
    assert result.code == 0 and "parameters" in result.out and "inspect --json" in result.err
    new = csv(tmp_path, "new.csv", houses(30, seed=1))
    encoder = Encoder.from_json(load_with_extra(regression.model)[1]["encoder"])
    mean, std = runpy.run_path("model.py")["predict_distribution"](encoder.transform(read_table(new)))
    rows = pd.DataFrame(call("predict", regression.model, new, "--json").json["predictions"])
    np.testing.assert_allclose(mean, rows["mean"], rtol=1e-4)
    np.testing.assert_allclose(std, rows["std"], rtol=1e-4)


def test_export_that_differs_is_refused(regression: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: a file of another network fails the check, so the check can fail."""
    write = export_check.write

    def other(to: str, plain: Plain, path: Path) -> None:
        first = plain.layers[0]._replace(b_mean=plain.layers[0].b_mean + 0.1)
        write(to, Plain(**{**vars(plain), "layers": (first, *plain.layers[1:])}), path)

    monkeypatch.setattr(export_check, "write", other)
    for to in ("onnx", "torch", "numpy"):
        result = call("export", regression.model, "--to", to, "--out", tmp_path / "f")
        assert result.code == 1 and "differs from tdamp" in result.err


def test_missing_library(regression: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: an extra that is not installed ends with 2 and its name."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = call("export", regression.model, "--to", "onnx", "--out", tmp_path / "f")
    assert result.code == 2 and "pip install 'tdamp[export]'" in result.err


def test_inspect(regression: Example) -> None:
    """twin: P(needed) of each column is the estimator's, and the text has every column."""
    result = call("inspect", regression.model, "--json").json
    estimator = tdamp.load(regression.model)
    prob = dict(zip(estimator.feature_names_in_, estimator.feature_active_prob_, strict=True))
    relevance = {column["name"]: column["needed"] for column in result["columns"]}
    assert relevance["area"] == pytest.approx(prob["area"])
    assert relevance["district"] == pytest.approx(max(p for name, p in prob.items() if name.startswith("district")))
    assert result["features"] == list(estimator.feature_names_in_)
    assert result["training"]["epochs"] == 3 and "test_predictions" not in result
    text = call("inspect", regression.model).out
    assert all(name in text for name in ("area", "district", "sold", "garden", "RMSE", "asked for"))


def test_data(tmp_path: Path) -> None:
    """twin: the list is the catalog; a built-in set comes as a table that can be read; a wrong name is told."""
    listed = call("data", "list", "--json").json["data"]
    assert [entry["name"] for entry in listed] == [entry.name for entry in catalog()]
    text = call("data", "list").out
    assert all(entry.name in text for entry in catalog())
    result = call("data", "fetch", "iris", "--csv", tmp_path / "iris.csv")
    assert result.code == 0 and "--target 'target'" in result.out
    frame = read_table(tmp_path / "iris.csv")
    assert frame.shape == (150, 5) and set(frame["target"]) == {"setosa", "versicolor", "virginica"}
    result = call("data", "fetch", "iriss")
    assert result.code == 2 and "Did you mean 'iris'?" in result.err
    assert call("data", "fetch", "iris", "--csv", tmp_path / "iris.txt").code == 2


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "cifar10"])
def test_images_are_no_tables(name: str) -> None:
    """contract: the error names the loader, which there is."""
    with pytest.raises(CommandError, match=rf"too large for a CSV.*tdamp\.datasets\.load_{name}\(\)"):
        as_table(name)
    assert hasattr(tdamp.datasets, f"load_{name}")


@pytest.mark.parametrize("name", ["digits", "diabetes", "breast_cancer", "wine"])
def test_built_in_tables(name: str) -> None:
    """identity: rows, inputs and one target, as the catalog says."""
    entry = next(entry for entry in catalog() if entry.name == name)
    frame, target = as_table(name)
    assert frame.shape == (entry.rows, entry.inputs + 1) and target in frame
