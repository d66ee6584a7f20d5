"""Spoiled files: refused, or the same answer; never a crash, a hang, code that runs, or another answer in silence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

import tdamp
from helpers.bad_kinds import LABELS, X, Y, classifier, regressor
from tdamp.export import save_torch, to_onnx
from tdamp.tables import Encoder
from tdamp.training import compiled

SCRIPT = Path(__file__).parents[1] / "helpers" / "fuzz_files.py"
FRAME = pd.DataFrame(X, columns=list("abc"))
WITHOUT_A_HASH = {"csv", "npz", "parquet", "pt", "onnx"}
"""Files whose format does not tell of every spoiled byte: another proper answer may come of it."""

KINDS = [
    *(f"model {name} {how}" for name in ("regression", "classes") for how in ("data", "config")),
    *(f"model {name} {how} mended" for name in ("regression", "classes") for how in ("data", "config")),
    *("csv", "npz", "parquet", "stablehlo", "pt", "onnx"),
]
FEW = {kind: 50 for kind in KINDS} | {"pt": 20, "onnx": 20}
MANY = {kind: 900 for kind in KINDS} | {
    "csv": 700,
    "npz": 700,
    "parquet": 700,
    "stablehlo": 500,
    "pt": 300,
    "onnx": 300,
}


def double(name: str, x: jax.Array) -> jax.Array:
    """A function whose program is kept."""
    return 2 * x


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one whole file of every kind."""
    folder = tmp_path_factory.mktemp("files")
    numbers = regressor().fit(X, Y)
    encoder = Encoder.fit(FRAME.assign(y=Y), "y")
    tdamp.save(numbers, folder / "regression", encoder=encoder.to_json())
    tdamp.save(classifier().fit(FRAME, np.where(LABELS, "größe", "low")), folder / "classes")
    to_onnx(numbers.to_plain(), folder / "clean.onnx")
    save_torch(numbers.to_plain(), folder / "clean.pt")
    table = FRAME.assign(day=pd.date_range("2020", periods=len(X)), kind=["u", "v"] * 12, y=Y)
    table.to_csv(folder / "clean.csv", index=False)
    table.to_parquet(folder / "clean.parquet")
    np.savez(folder / "clean.npz", x=X, y=Y, kind=np.array(["u", "v"] * 12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "FOLDER", [folder / "programs"])
        compiled.Program(double, like=lambda name, x: x)("a", np.ones(4, np.float32))
    next((folder / "programs").glob("*.stablehlo")).rename(folder / "clean.stablehlo")
    return folder


def campaign(folder: Path, counts: dict[str, int]) -> dict[str, Counter[str]]:
    """Outcomes by kind of that many mutations, read in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "helpers.fuzz_files", str(folder), json.dumps(counts)],
        cwd=SCRIPT.parents[1],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    print(run.stdout)
    assert run.returncode == 0, f"crash or hang at {(folder / 'now').read_text()}: {run.stderr[-3000:]}"
    results = [json.loads(line) for line in run.stdout.splitlines()]
    assert {one["kind"]: one["faults"] for one in results if one["faults"]} == {}
    return {one["kind"]: Counter(one["outcomes"]) for one in results}


def check(counts: dict[str, int], result: dict[str, Counter[str]]) -> None:
    """Every mutation has an outcome; without a mended hash no other answer comes of it; and the fuzz bites."""
    for kind, count in counts.items():
        outcomes = result[kind]
        assert outcomes.total() == count
        assert outcomes["refused"] > count / 10, f"{kind}: the mutations miss the file"
        if "mended" not in kind and kind not in WITHOUT_A_HASH:
            assert set(outcomes) <= {"refused", "same"}, kind


def test_spoiled_files(clean: Path) -> None:
    """contract: some hundred mutations of every kind of file end as they should."""
    check(FEW, campaign(clean, FEW))


@pytest.mark.soak
def test_ten_thousand_spoiled_files(clean: Path) -> None:
    """contract: more than 10,000 mutations; their outcomes are printed (run with -s)."""
    assert sum(MANY.values()) > 10_000
    check(MANY, campaign(clean, MANY))


def test_the_watch_sees_code(tmp_path: Path) -> None:
    """contract: the audit hook of the campaign notices a pickle that calls a system command, and an exec."""
    code = (
        "import sys, pickle; from helpers import fuzz_files as f; sys.addaudithook(f.listen); f.listening.append(True);"
        "exec('1'); pickle.loads(b\"cos\\nsystem\\n(S'true'\\ntR.\"); print(' | '.join(f.code_run))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPT.parents[1], capture_output=True, text=True, check=True, env=os.environ
    )
    assert all(word in run.stdout for word in ("exec <string>", "pickle.find_class", "os.system"))
