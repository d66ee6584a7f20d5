"""Programs kept on disk give what plain ones give, and a damaged one is made anew."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tdamp.training import compiled
from tdamp.training.compiled import Program

TRACED: list[str] = []


def scaled_sum(name: str, x: jax.Array, more: dict[str, jax.Array]) -> tuple[jax.Array, dict[str, jax.Array]]:
    """A function that tells when it is traced."""
    TRACED.append(name)
    return jnp.sum(x) * len(name), {key: 2 * value for key, value in more.items()}


def program() -> Program:
    """A fresh one, as in a new process."""
    TRACED.clear()
    return Program(scaled_sum, like=lambda name, x, more: (0, more))


def check(result: Program) -> None:
    """Its value on some numbers."""
    total, doubled = result("abc", np.arange(4.0, dtype="f4"), {"a": np.float32(1), "b": np.ones(2, "f4")})
    assert float(total) == 18 and float(doubled["a"]) == 2 and doubled["b"].tolist() == [2, 2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs are kept here."""
    monkeypatch.setattr(compiled, "FOLDER", [tmp_path])
    return tmp_path


def test_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: traced once for each static argument, shape and precision."""
    monkeypatch.setattr(compiled, "FOLDER", [])
    result = program()
    check(result)
    check(result)
    assert TRACED == ["abc"]
    result("abc", np.arange(5.0, dtype="f4"), {"a": np.float32(1)})
    result("abcd", np.arange(5.0, dtype="f4"), {"a": np.float32(1)})
    assert TRACED == ["abc", "abc", "abcd"]


def test_no_more_are_held_than_a_process_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """rate: those used last stay, of all programs together; the memory maps of the others are given back."""
    monkeypatch.setattr(compiled, "FOLDER", [])
    monkeypatch.setattr(compiled, "MOST", 3)
    monkeypatch.setattr(compiled, "_used", OrderedDict())
    result, other = program(), Program(scaled_sum, like=lambda name, x, more: (0, more))
    for size in (1, 2, 1, 3):
        result("abc", np.zeros(size, "f4"), {})
    other("abc", np.zeros(1, "f4"), {})
    assert len(result.compiled) == 2 and len(other.compiled) == 1
    assert TRACED == ["abc"] * 4
    result("abc", np.zeros(1, "f4"), {})  # used again in the meantime, so that 2 went, and not 1
    assert TRACED == ["abc"] * 4
    total, _ = result("abc", np.ones(2, "f4"), {})
    assert TRACED == ["abc"] * 5 and float(total) == 6


def test_a_second_process_does_not_trace(folder: Path) -> None:
    """identity: what is read from disk computes the same, without the Python function."""
    check(program())
    assert TRACED == ["abc"] and len(list(folder.glob("*.stablehlo"))) == 1
    again = program()
    check(again)
    check(again)
    assert TRACED == []


def test_threads_compile_once(folder: Path) -> None:
    """contract: of eight threads that start together one traces, and all get the value."""
    made, together = program(), Barrier(8)

    def call(_: int) -> None:
        together.wait()
        check(made)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, range(8)))
    assert TRACED == ["abc"]


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:-9] + b"\xff" + b[-8:]])
def test_a_damaged_file_is_made_anew(folder: Path, damage) -> None:
    """contract: an empty, cut or overwritten program is traced again and written whole."""
    check(program())
    (path,) = folder.glob("*.stablehlo")
    path.write_bytes(damage(path.read_bytes()))
    check(program())
    assert TRACED == ["abc"]
    check(program())
    assert TRACED == []


@pytest.mark.parametrize("kept", [False, True])
def test_prepared_ahead(kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: prepared from shapes in another thread, in this one's precision, a program is not traced again."""
    monkeypatch.setattr(compiled, "FOLDER", [tmp_path] if kept else [])
    result = program()
    x, more = jax.ShapeDtypeStruct((4,), "f4"), {"a": np.float32(0), "b": jax.ShapeDtypeStruct((2,), "f4")}
    for x64 in (False, True):
        with jax.enable_x64(x64):
            compiled.in_background(lambda: result.prepare("abc", x, more)).result()
            assert TRACED == ["abc"]
            check(result)
            assert TRACED == ["abc"]
            TRACED.clear()


def test_an_error_beside_the_training_is_reported() -> None:
    """contract: what goes wrong in the other thread is raised where its result is asked for."""

    def fail() -> None:
        raise MemoryError("no room to compile")

    with pytest.raises(MemoryError, match="no room"):
        compiled.in_background(fail).result()


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the program runs all the same."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(compiled, "FOLDER", [tmp_path / "file" / "below"])
    check(program())


def test_the_switch(tmp_path: Path) -> None:
    """contract: off leaves JAX as it is; a cache the user gave to JAX is left alone; else ours is used."""
    code = (
        "import jax; from tdamp.compilation import keep_compiled; {}keep_compiled(); "
        "from tdamp import programs; print(jax.config.jax_compilation_cache_dir, len(programs.FOLDER))"
    )
    for before, switch, end in (
        ("", "off", "None 0"),
        ("jax.config.update('jax_compilation_cache_dir', 'theirs'); ", "on", "theirs 0"),
        ("", "on", f"{tmp_path / 'compiled'} 1"),
    ):
        environment = {"TDAMP_CACHE": str(tmp_path), "TDAMP_COMPILATION_CACHE": switch, "JAX_PLATFORMS": "cpu"}
        run = subprocess.run(
            [sys.executable, "-c", code.format(before)], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == end
