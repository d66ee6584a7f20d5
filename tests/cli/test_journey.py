"""Whole journeys as a user makes them: the installed command, by subprocess."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from helpers.command_examples import SMALL, Example, call, csv, houses
from helpers.guard import HANGS

COMMAND = [sys.executable, "-m", "tdamp.cli"]


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command in a folder."""
    texts = [str(argument) for argument in arguments]
    return subprocess.run([*COMMAND, *texts], cwd=cwd, capture_output=True, text=True, timeout=HANGS)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_from_table_to_predictions(form: str, tmp_path: Path) -> None:
    """identity: fit, then predict in another process; one prediction for each row, one JSON object on stdout."""
    frame = houses(150).drop(columns="band")
    csv(tmp_path, "h.csv", frame)
    frame.to_parquet(tmp_path / "h.parquet")
    fitted = run("fit", f"h.{form}", "--target", "price", "--out", "m", "--json", *SMALL, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert json.loads(fitted.stdout)["train_rows"] == 120
    assert "Traceback" not in fitted.stderr and "Warning" not in fitted.stderr
    predicted = run("predict", "m", f"h.{form}", "--out", "p.csv", cwd=tmp_path)
    assert predicted.returncode == 0 and "R2" in predicted.stderr
    assert len(pd.read_csv(tmp_path / "p.csv")) == 150


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_during_training(tmp_path: Path) -> None:
    """identity: 130, one line, no traceback, no model."""
    csv(tmp_path, "h.csv", houses(150))
    arguments = ["fit", "h.csv", "--target", "price", "--out", "m", "--epochs", "100000", "--hidden", "16"]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in the background of a shell
    )
    assert process.stdout is not None
    assert "150 rows" in process.stdout.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, result = process.communicate(timeout=HANGS)
    assert process.returncode == 130, result
    assert "tdamp: interrupted; nothing was saved." in result and "Traceback" not in result
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_closed_pipe(regression: Example, tmp_path: Path) -> None:
    """identity: a reader that leaves after one line (head -1) gets 141 and silence; a pipe holds fewer rows."""
    many = csv(tmp_path, "many.csv", houses(4000, seed=2).drop(columns=["price", "band"]))
    process = subprocess.Popen(
        [*COMMAND, "predict", str(regression.model), str(many)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "mean,std,low,high\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=HANGS) == 141


def test_session_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: the page's table and commands, in order, do what it says: each ends with the code that it shows."""
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    monkeypatch.chdir(tmp_path)
    (table,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    exec(table, {})
    session = page.partition("## A session")[2].partition("\n## ")[0]
    commands = re.findall(r"^```sh\n(tdamp .*)\n```", session, re.MULTILINE)
    assert [shlex.split(command)[1] for command in commands] == ["fit", "predict", "inspect", "report", "export", "fit"]
    for command in commands:
        result = call(*shlex.split(command)[1:])
        assert result.code == (2 if "prize" in command else 0), result.err
    assert {"predictions.csv", "report.html", "model.onnx"} <= {path.name for path in tmp_path.iterdir()}
