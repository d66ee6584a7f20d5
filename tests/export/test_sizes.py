"""The table of what pruning saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from helpers.random_fitted import random_fitted, random_plain
from tdamp.engine.network import Network
from tdamp.export import Plain, render, save_torch, size_table, sizes, to_numpy, to_onnx

BEFORE = Network((40, 64, 3), "classification")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plain, dict[str, Path]]:
    """A pruned network and its files."""
    folder = tmp_path_factory.mktemp("files")
    plain, _ = random_plain(random_fitted(Network((5, 8, 3), "classification"), 40, seed=0), 40, seed=0)
    files = {"onnx": folder / "m.onnx", "torch": folder / "m.pt", "numpy": folder / "m.py", "model": folder / "saved"}
    for key, writer in (("onnx", to_onnx), ("torch", save_torch), ("numpy", to_numpy)):
        writer(plain, files[key])
    files["model"].mkdir()
    (files["model"] / "a").write_bytes(b"x" * 123)
    return plain, files


def test_counts_and_bytes(written, tmp_path: Path) -> None:
    """contract: counts by hand, bytes by the file system; the network before weighs what a full one does."""
    plain, files = written
    rows = {row["what"]: row for row in size_table(BEFORE, plain, files)}
    counts = [rows[what] for what in ("inputs and hidden units", "parameters", "multiply-adds")]
    assert [(row["before"], row["after"]) for row in counts] == [(104, 13), (2819, 75), (2752, 64)]
    for key in ("onnx", "torch", "numpy"):
        row = rows[f"bytes of {key}"]
        assert row["after"] == files[key].stat().st_size < row["before"]
    full, _ = random_plain(random_fitted(BEFORE, 40, seed=1), 40, seed=1)
    to_onnx(full, tmp_path / "full.onnx")
    # the random network has centres of the hidden units in its file as well
    assert rows["bytes of onnx"]["before"] == pytest.approx((tmp_path / "full.onnx").stat().st_size, rel=0.05)
    assert (rows["bytes of model"]["before"], rows["bytes of model"]["after"]) == (None, 123)
    times = [row for what, row in rows.items() if "onnxruntime" in what]
    assert len(times) == 2 and all(row["after"] > 0 and row["before"] > 0 for row in times)
    assert times[1]["before"] > times[0]["before"]  # a thousand rows and one


def test_without_onnxruntime_numpy_is_timed(written, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the rows say which engine was timed."""
    plain, _ = written
    monkeypatch.setattr(sizes, "find_spec", lambda name: None)
    monkeypatch.setattr(sizes, "MIN_SECONDS", 0.0)
    whats = [row["what"] for row in size_table(BEFORE, plain, {})]
    assert whats[-2:] == ["microseconds for 1 row (NumPy)", "microseconds for 1000 rows (NumPy)"]


def test_rendering() -> None:
    """contract: numbers with thousands marked, the ratio, and a dash where there is nothing to say."""
    rows = [{"what": "parameters", "before": 10000, "after": 2500}, {"what": "bytes", "before": None, "after": 7}]
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(render(rows))
    text = console.export_text()
    assert "10,000" in text and "4.0x" in text and "-" in text


def test_another_network_is_refused(written) -> None:
    """contract: the network before must have the table's columns and the outputs."""
    with pytest.raises(ValueError, match="expected 40 inputs and 3 outputs"):
        size_table(Network((41, 5, 3), "classification"), written[0], {})
    assert np.array_equal(sizes.stand_in(BEFORE, written[0]).inputs, np.arange(40))
