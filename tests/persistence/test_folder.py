"""The model folder: bits, crashes, damage, foreign files, other schemas.

covers: io.errors
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tdamp
from helpers.faulty_disk import FaultyDisk, Way, no_room
from tdamp.io import atomic
from tdamp.io.errors import ModelFileError
from tdamp.persistence import folder as store
from tdamp.persistence.folder import load, save

rng = np.random.default_rng(0)
OLD = {"w": rng.normal(size=(3, 4)).astype(np.float32), "b": np.arange(3.0)}
NEW = {"w": rng.normal(size=(5, 2)), "inputs": np.array([1, 4])}
CARD = "# A model\n"


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    """Names, types, shapes and every bit."""
    return {k: (v.dtype, v.shape, v.tobytes()) for k, v in a.items()} == {
        k: (v.dtype, v.shape, v.tobytes()) for k, v in b.items()
    }


def test_round_trip_bit_for_bit(tmp_path: Path) -> None:
    """identity: every type, scalars, empty and strided arrays, NaN and signed zero; a folder with a non-ASCII name."""
    arrays: dict[str, Any] = {name: np.arange(6).reshape(2, 3).astype(name) for name in sorted(store.DTYPES)}
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, 1 / 3])
    arrays |= {"special": special, "special32": special.astype(np.float32)}
    arrays |= {"zero_d": np.array(1 / 3), "zero_d_bool": np.array(True), "empty": np.zeros((0, 3)), "ü.模": np.ones(1)}
    arrays |= {"strided": np.arange(12.0).reshape(3, 4).T[::2]}
    config = {"names": ["größe", "日"], "depth": 2, "scale": 1 / 3, "nested": {"a": [1, None, True]}, "": "x"}
    folder = tmp_path / "neu" / "modèle 模型"
    save(folder, arrays, config, CARD)
    stored, read = load(str(folder))
    assert same(stored, {k: np.ascontiguousarray(v) if v.ndim else v for k, v in arrays.items()})
    assert read == config
    assert all(array.flags.writeable for array in stored.values())
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    assert (folder / "README.md").read_text() == CARD
    header = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert (header["format"], header["schema"], header["tdamp"]) == ("tdamp", 1, tdamp.__version__)


def test_saving_again_replaces_the_model(tmp_path: Path) -> None:
    """identity: the second model, its card, no leftovers, and the user's own files still there."""
    save(tmp_path, OLD, {"n": 1}, CARD)
    (tmp_path / "notes.txt").write_text("mine")
    save(tmp_path, NEW, {"n": 2}, "# New\n")
    result, config = load(tmp_path)
    assert same(result, NEW) and config == {"n": 2}
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["README.md", "config.json", "model.safetensors", "notes.txt"]
    assert (tmp_path / "README.md").read_text() == "# New\n" and (tmp_path / "notes.txt").read_text() == "mine"


class Crash(BaseException):
    """The machine stops."""


class Machine:
    """Stops at the n-th call that touches the disk, before, within or after it; then nothing works any more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stop: int, after: bool) -> None:
        self.calls, self.stop, self.after = 0, stop, after
        for name in ("replace", "fsync", "unlink", "open", "listdir"):
            monkeypatch.setattr(os, name, self.wrap(getattr(os, name), name))

    def wrap(self, real: Any, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == self.stop and self.after:
                real(*args, **kwargs)
            elif (
                self.calls == self.stop
                and name == "fsync"
                and os.fstat(args[0]).st_size
                and os.path.isfile(f"/dev/fd/{args[0]}")
            ):
                os.ftruncate(args[0], os.fstat(args[0]).st_size // 2)  # half of it had reached the disk
            if self.calls >= self.stop:
                raise Crash
            return real(*args, **kwargs)

        return call


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_step_leaves_a_whole_model(tmp_path: Path, after: bool) -> None:
    """contract: every system call of a save fails in its turn; the old or the new model loads, never a mixture.

    Old first, new from some step on, and a later save works and leaves nothing behind.
    """
    seen: list[int] = []
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        save(folder, OLD, {"n": 1}, CARD)
        with pytest.MonkeyPatch.context() as patch:
            machine = Machine(patch, stop, after)
            with contextlib.suppress(Crash):
                save(folder, NEW, {"n": 2}, "# New\n")
        result, config = load(folder)
        assert same(result, {1: OLD, 2: NEW}[config["n"]])
        seen.append(config["n"])
        save(folder, OLD, {"n": 3}, CARD)
        assert same(load(folder)[0], OLD) and len(list(folder.iterdir())) == 3
        if machine.calls < stop:
            break
    else:
        raise AssertionError("the save never ended")
    assert len(seen) > 10 and seen == sorted(seen) and set(seen) == {1, 2}


def test_a_crash_of_the_first_save(tmp_path: Path) -> None:
    """contract: the folder is no model, or the whole one; saving again works."""
    whole = 0
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        with pytest.MonkeyPatch.context() as patch:
            machine = Machine(patch, stop, after=False)
            with contextlib.suppress(Crash):
                save(folder, NEW, {}, CARD)
        try:
            assert same(load(folder)[0], NEW)
            whole += 1
        except ModelFileError as error:
            assert "missing" in str(error)
        save(folder, OLD, {}, CARD)
        assert same(load(folder)[0], OLD) and len(list(folder.iterdir())) == 3
        if machine.calls < stop:
            break
    assert 1 < whole < stop


def test_a_full_disk_leaves_no_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: an error (not a crash) while writing takes the piece away and keeps the old file."""
    path = tmp_path / "file"
    atomic.write_whole(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        atomic.write_whole(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("way", ["once", "from then on"])
def test_a_full_disk_at_any_step(tmp_path: Path, way: Way) -> None:
    """contract: every open, write (half of it done), fsync and rename of a save fails in its turn, with an error.

    The old or the new model loads, and saving again works and leaves nothing behind.
    """
    seen: list[int] = []
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        save(folder, OLD, {"n": 1}, CARD)
        with pytest.MonkeyPatch.context() as patch:
            disk = FaultyDisk(patch, stop, way, errno.ENOSPC)
            with contextlib.suppress(OSError):
                save(folder, NEW, {"n": 2}, "# New\n")
        result, config = load(folder)
        assert same(result, {1: OLD, 2: NEW}[config["n"]])
        seen.append(config["n"])
        save(folder, OLD, {"n": 3}, CARD)
        assert same(load(folder)[0], OLD) and len(list(folder.iterdir())) == 3
        if disk.calls < stop:
            break
    assert len(seen) > 15 and seen == sorted(seen) and set(seen) == {1, 2}


def test_the_kernel_refuses(tmp_path: Path) -> None:
    """contract: files of every length are refused by the kernel itself; the model that was there is still there."""
    save(tmp_path, OLD, {"n": 1}, CARD)
    for size in (0, 1, 100, 200):
        with no_room(size), pytest.raises(OSError, match="File too large"):
            save(tmp_path, NEW, {"n": 2}, CARD)
        assert same(load(tmp_path)[0], OLD) and len(list(tmp_path.iterdir())) == 3


def test_damaged_bytes(tmp_path: Path) -> None:
    """contract: 600 flipped, cut, inserted and zeroed bytes in every file: an error, or the same arrays."""
    clean = tmp_path / "clean"
    save(clean, OLD, {"n": 1, "names": ["a", "ü"]}, CARD)
    rng = np.random.default_rng(1)
    refused = {name: 0 for name in (store.DATA, store.CONFIG, store.CARD)}
    for name in refused:
        content = (clean / name).read_bytes()
        for i in range(200):
            at = int(rng.integers(len(content)))
            piece = bytes(rng.integers(0, 256, int(rng.integers(1, 4)), dtype=np.uint8))
            damaged = [
                content[:at] + piece + content[at + len(piece) :],
                content[:at],
                content[:at] + piece + content[at:],
                content[:at] + bytes(len(content) - at),
            ][i % 4]
            folder = tmp_path / "damaged"
            shutil.copytree(clean, folder)
            (folder / name).write_bytes(damaged)
            try:
                assert same(load(folder)[0], OLD)
            except ModelFileError:
                refused[name] += 1
            shutil.rmtree(folder)
    assert refused[store.DATA] >= 195 and refused[store.CONFIG] > 100 and refused[store.CARD] == 0


def rewrite(folder: Path, **changes: Any) -> None:
    """Change entries of config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"format": "tdamp", "x": NaN}', "NaN is no JSON number"),
        ('{"format": "tdamp", "x": 1e999}', "1e999 is no JSON number"),
        ("[" * 100_000, "not JSON"),
        ('{"x": ' + "9" * 5000 + "}", "not JSON"),
        ("[1]", "not a tdamp model"),
        ('{"format": "other"}', "not a tdamp model"),
        ('{"format": "tdamp"}', '"schema" is None'),
        ('{"format": "tdamp", "schema": true}', '"schema" is True'),
        ('{"format": "tdamp", "schema": 1, "sha256": "../../etc/passwd"}', "not the hash"),
        ('{"format": "tdamp", "schema": 1, "sha256": ["x"]}', "not the hash"),
    ],
    ids=lambda value: value[:40],
)
def test_other_configs(tmp_path: Path, text: str, message: str) -> None:
    """contract: what config.json may be instead; each is named, and none is written over."""
    save(tmp_path, OLD, {}, CARD)
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="will not write over"):
        save(tmp_path, NEW, {}, CARD)
    assert (tmp_path / "config.json").read_text() == text


def test_missing_things(tmp_path: Path) -> None:
    """contract: no folder, a file in its place, an empty folder, each file gone."""
    with pytest.raises(ModelFileError, match="no such folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    for action in (lambda: load(tmp_path / "file"), lambda: save(tmp_path / "file", OLD, {}, CARD)):
        with pytest.raises(ModelFileError, match=r"not a folder|in the way"):
            action()
    for name in (store.CONFIG, store.DATA):
        save(tmp_path / name, OLD, {}, CARD)
        (tmp_path / name / name).unlink()
        with pytest.raises(ModelFileError, match=f"{name}: missing"):
            load(tmp_path / name)


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    """contract: files that are not ours forbid saving; nothing changes."""
    (tmp_path / "README.md").write_text("my project")
    with pytest.raises(ModelFileError, match=r"holds other files \(README.md\)"):
        save(tmp_path, OLD, {}, CARD)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "my project"


def test_a_true_hash_of_a_foreign_file(tmp_path: Path) -> None:
    """contract: data that match their hash but are no safetensors, or one with a header that lies."""
    for content in (b"", b"hello", b"\xff" * 8, (2**40).to_bytes(8, "little") + b"{}", b"\x02" + bytes(7) + b"[]"):
        save(tmp_path, OLD, {}, CARD)
        (tmp_path / store.DATA).write_bytes(content)
        rewrite(tmp_path, sha256=hashlib.sha256(content).hexdigest())
        with pytest.raises(ModelFileError, match="not a safetensors file"):
            load(tmp_path)


def test_schemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: a newer schema asks for an upgrade, an older one is migrated, or named when nothing migrates it."""
    save(tmp_path, OLD, {"width": 4}, CARD)
    rewrite(tmp_path, schema=2, tdamp="9.0")
    with pytest.raises(ModelFileError, match=r"written by a newer tdamp \(9.0\): upgrade"):
        load(tmp_path)
    rewrite(tmp_path, schema=0)
    with pytest.raises(ModelFileError, match="schema 0 is too old"):
        load(tmp_path)

    def from_0(arrays: Any, config: Any) -> Any:
        return {**arrays, "weight": arrays["w"]}, {"widths": [config["width"]]}

    monkeypatch.setitem(store.MIGRATIONS, 0, from_0)
    arrays, config = load(tmp_path)
    assert config == {"widths": [4]} and same(arrays, {**OLD, "weight": OLD["w"]})


@pytest.mark.parametrize(
    ("arrays", "config", "message"),
    [
        ({"a": np.array(["x"])}, {}, "cannot store <U1"),
        ({"a": np.array([None])}, {}, "cannot store object"),
        ({"a": np.ones(2, complex)}, {}, "cannot store complex128"),
        ({}, {"schema": 3}, "names schema belong"),
        ({}, {"x": float("nan")}, "Out of range"),
        ({}, {"x": "a" * (store.MAX_CONFIG_BYTES + 1)}, "bytes of JSON"),
    ],
    ids=["text", "objects", "complex", "header", "nan", "large"],
)
def test_what_cannot_be_stored(tmp_path: Path, arrays: Any, config: Any, message: str) -> None:
    """contract: refused before anything is written."""
    with pytest.raises(ValueError, match=message):
        save(tmp_path / "new", arrays, config, CARD)
    assert not (tmp_path / "new").exists()


def test_a_huge_config_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: beyond the limit it is refused, whatever it holds."""
    save(tmp_path, OLD, {"x": "a" * 1000}, CARD)
    monkeypatch.setattr(store, "MAX_CONFIG_BYTES", 1000)
    with pytest.raises(ModelFileError, match="more than 1000 bytes"):
        load(tmp_path)


def test_loading_while_another_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: a save that falls between the reading of config and data gives the new model, not an error."""
    save(tmp_path, OLD, {"n": 1}, CARD)
    real, done = store._read_data, []

    def meanwhile(folder: Path, digest: str) -> bytes | None:
        if not done:
            done.append(True)
            save(tmp_path, NEW, {"n": 2}, CARD)
        return real(folder, digest)

    monkeypatch.setattr(store, "_read_data", meanwhile)
    arrays, config = load(tmp_path)
    assert same(arrays, NEW) and config == {"n": 2}
