"""The digits demo, from the command line and by its parts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tdamp.cli import demo, main

Pair = tuple[demo.Result, demo.Result]


@pytest.fixture(scope="module")
def demonstrated(folder: Path) -> tuple[Pair, str]:
    """One run of the demo: its results and what it printed."""
    console = Console(file=io.StringIO(), width=120)
    return demo.run_demo(console, out=folder), console.file.getvalue()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it writes its files."""
    return tmp_path_factory.mktemp("demo")


def test_pruned_size_is_exact(demonstrated: tuple[Pair, str]) -> None:
    """identity: 112 units, then exactly round(0.3 * 112); sizes follow from the widths."""
    (full, pruned), _ = demonstrated
    assert (full.units, pruned.units) == (112, 34)
    assert full.params == 65 * 48 + 49 * 10
    assert pruned.params < 0.25 * full.params


def test_scores(demonstrated: tuple[Pair, str]) -> None:
    """calibration: limits are 3 sds of 450 digits above the cross-validated errors; guessing has 90 % and -2.3."""
    (full, pruned), _ = demonstrated
    assert full.error < 0.05 and full.log_score > -0.2
    assert pruned.error < 0.08 and pruned.log_score > -0.5
    assert 0 <= full.ece < 0.06 and 0 <= pruned.ece < 0.1


def test_files_are_written(demonstrated: tuple[Pair, str], folder: Path) -> None:
    """identity: the report is about the pruned digits; the ONNX file makes the errors that were printed."""
    import onnxruntime

    (_, pruned), text = demonstrated
    assert "<h1>Digits, pruned</h1>" in (folder / demo.REPORT).read_text()
    data = demo.load_digits()
    session = onnxruntime.InferenceSession(folder / demo.ONNX)
    probs = session.run(["probabilities"], {"x": data.test_x.astype("float32")})[0]
    assert (probs.argmax(1) != data.test_y).mean() == pytest.approx(pruned.error, abs=1.5 / 450)
    assert demo.ONNX in text


def test_table_shows_the_numbers(demonstrated: tuple[Pair, str]) -> None:
    """identity: what is printed is what was measured."""
    results, text = demonstrated
    for result in results:
        for number in (f"{result.error:.1%}", f"{result.log_score:.3f}", str(result.params)):
            assert number in text
    assert "evidence" in text and "noise" in text and "units 34" in text


def test_train_and_test_part_are_apart() -> None:
    """identity: 1347 and 450 digits, pixels in [0, 1], every class in both parts, the same split each time."""
    data, again = demo.load_digits(), demo.load_digits()
    assert data.train_x.shape == (1347, 64) and data.test_x.shape == (450, 64)
    assert data.train_x.min() == 0 and data.train_x.max() == 1
    assert set(data.train_y) == set(data.test_y) == set(range(10))
    assert (data.test_x == again.test_x).all()


def test_command_passes_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: `tdamp demo --seed 3` runs the demo with seed 3 and exits with 0."""
    seen: list[int] = []
    monkeypatch.setattr(demo, "run_demo", lambda seed, out: seen.append(seed))
    assert main.main(["demo", "--seed", "3"]) == 0
    assert seen == [3]
