"""`tdamp fit --checkpoint` whose process is killed (SIGKILL): the same command goes on, to the same model."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.command_examples import call, csv, houses
from tdamp.training import checkpoint

PROGRAM = """
import os, signal, sys
from tdamp.training import checkpoint
from tdamp.cli.main import main
checkpoint.SECONDS, checkpoint.SHARE = 0.0, float("inf")  # every epoch is written
write = checkpoint.Checkpoint.write


def killed(self, stage, epochs, *content):
    write(self, stage, epochs, *content)
    if os.environ.get("KILLED_AT") == f"{stage} {epochs}":
        os.kill(os.getpid(), signal.SIGKILL)


checkpoint.Checkpoint.write = killed
sys.exit(main(sys.argv[1:]))
"""


def begun(folder: Path, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """A process of its own that trains."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments), "--quiet"]
    return subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True)


def content(model: Path) -> tuple[bytes, Any]:
    """The arrays of a model folder bit for bit, and its config but for the seconds that training took."""
    config = json.loads((model / "config.json").read_text())
    del config["extra"]["facts"]["seconds"], config["config_sha256"]
    for record in config["history"]:
        del record["seconds"]
    return (model / "model.safetensors").read_bytes(), config


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_killed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the model of a command that nobody killed, bit for bit; one was killed when its twins were under way."""
    data, place = csv(tmp_path, "h.csv", houses(150).drop(columns="band")), tmp_path / "c"
    arguments = ["fit", data, "--target", "price", "--hidden", "16", "--batch-size", "32", "--epochs", "12"]
    around = {"JAX_ENABLE_X64": "true", "KILLED_AT": "fold1 4"}
    process = begun(tmp_path, *arguments, "--out", "m", "--checkpoint", place, **around)
    _, result = process.communicate()
    assert process.returncode == -signal.SIGKILL, result
    there = {path.name for path in place.iterdir()}
    trained: list[int] = []
    load = checkpoint.Stage.load

    def loaded(self: checkpoint.Stage) -> Any:
        actual = load(self)
        trained.append(0 if actual is None else len(actual[1]["history"]))
        return actual

    monkeypatch.setattr(checkpoint.Stage, "load", loaded)
    assert call(*arguments, "--out", tmp_path / "m", "--checkpoint", place).code == 0
    assert call(*arguments, "--out", tmp_path / "whole").code == 0
    assert content(tmp_path / "m") == content(tmp_path / "whole")
    assert max(trained) >= 4 and len(trained) == 6 and any("fold" in name for name in there) and not place.exists()


KINDS: dict[str, tuple[int, int, str]] = {
    "twins": (900, 6 * 150, "--target price --drop band --hidden 16 --epochs 150"),
    "pruned": (1500, 60, "--target band --drop price --hidden 48,48 --keep 0.3 --epochs 60"),
}
"""Rows, epochs of all trainings of a fit, and options."""
KILLS = 10
"""Of each kind."""


def epochs_of(place: Path) -> dict[str, int]:
    """How far each training has come, as its files say."""
    results: dict[str, int] = {}
    for path in sorted(place.glob("*.checkpoint")):
        stage, epochs = path.stem.split("-")
        results[stage] = int(epochs)
    return results


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments(kind: str, tmp_path: Path) -> None:
    """twin: the model of a command that nobody killed, bit for bit, whenever a command comes to its end.

    Three kills in four fall at random epochs, the others at random seconds from the process's start: into imports, the
    table and the compiler, whose cache is empty at first.
    """
    rows, total, options = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    arguments = ["fit", csv(tmp_path, "h.csv", houses(rows)), *options.split()]
    place, cache = tmp_path / "c", {"TDAMP_CACHE": str(tmp_path / "cache")}
    whole = begun(tmp_path, *arguments, "--out", "whole", TDAMP_CACHE=str(tmp_path / "other cache"))
    assert whole.wait() == 0, whole.communicate()
    kills, ends, parts, stages = 0, 0, 0, Counter[str]()
    while True:
        before = sum(epochs_of(place).values())
        # a kill may fall between the saved model and the process's end: then it is replaced
        process = begun(tmp_path, *arguments, "--out", "m", "--force", "--checkpoint", place, **cache)
        if kills < KILLS:
            goal = before + rng.integers(1, total // 3) if kills % 4 else np.inf
            late = time.monotonic() + (rng.uniform(0, 10) if goal == np.inf else np.inf)
            while process.poll() is None and time.monotonic() < late and sum(epochs_of(place).values()) < goal:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.02))
        else:
            process.wait()
        if process.poll() is None:
            process.kill()
            process.communicate()
            kills += 1
            reached = list(epochs_of(place)) or ["nothing"]
            stages[max((name.rstrip("0123456789") for name in reached), key=ORDER.index)] += 1
            parts += bool(list(place.glob("*.part")))
            continue
        assert process.returncode == 0, process.communicate()
        assert content(tmp_path / "m") == content(tmp_path / "whole")
        assert not place.exists()
        shutil.rmtree(tmp_path / "m")
        ends += 1
        if kills == KILLS:
            break
    print(f"{kind}: {kills} kills, reached {dict(stages)}, {parts} within a write; {ends} ends, all the same model")
    assert stages["training"] and (kind == "pruned" or stages["fold"])


ORDER = ["nothing", "start", "fold", "training"]
"""Of a fit's stages."""
