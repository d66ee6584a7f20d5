"""Checkpoints on a disk that is full, fails or damages files: the last good one survives, and training goes on."""

from __future__ import annotations

import contextlib
import errno
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.faulty_disk import Crash, FaultyDisk, Way, no_room
from helpers.stopped import same
from tdamp import CheckpointError, CheckpointWarning, Network, Settings, TDAMPRegressor, fit, load
from tdamp.training import checkpoint
from tdamp.training.checkpoint import Checkpoint, Stage

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3)).astype(np.float32)
Y = X[:, :1] - np.abs(X[:, 1:2])
NETWORK, SETTINGS = Network((3, 8, 1)), Settings(max_epochs=6, batch_size=32)
FINGERPRINT = {"seed": 3}


def written(folder: Path, epochs: int) -> None:
    """A checkpoint whose array tells its epochs."""
    opened(folder).save(epochs, {"w": np.full(500, epochs)}, {"epochs": epochs})


def opened(folder: Path) -> Stage:
    """As a new process does."""
    return Checkpoint(folder, FINGERPRINT).stage("training")


def result(folder: Path) -> int | None:
    """The epochs of the checkpoint that is used, which is whole."""
    at = opened(folder).load()
    if at is None:
        return None
    arrays, words = at
    np.testing.assert_array_equal(arrays["w"], np.full(500, words["epochs"]))
    return words["epochs"]


@pytest.mark.parametrize(
    ("way", "number"),
    [("once", errno.ENOSPC), ("once", errno.EIO), ("from then on", errno.EROFS), ("crash", 0)],
    ids=["full once", "broken once", "read-only from then on", "crash"],
)
def test_a_fault_at_any_step(way: Way, number: int, tmp_path: Path) -> None:
    """contract: every call of a write fails in its turn; the checkpoint before it or the new one is there, whole.

    An error of the disk is one warning. The next write works and leaves nothing behind.
    """
    seen: list[int | None] = []
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        written(folder, 1)
        written(folder, 2)
        stage = opened(folder)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught, \
                contextlib.suppress(Crash):  # fmt: skip
            warnings.simplefilter("always")
            disk = FaultyDisk(patch, stop, way, number)
            for _ in range(2 if way == "from then on" else 1):
                stage.save(3, {"w": np.full(500, 3)}, {"epochs": 3})
        ended = disk.calls < stop
        assert [w.category for w in caught] == ([] if ended or way == "crash" else [CheckpointWarning])
        seen.append(result(folder))
        written(folder, 4)
        assert result(folder) == 4 and len(list(folder.iterdir())) == 3
        if ended:
            break
    assert len(seen) > 8 and seen == sorted(seen) and set(seen) == {2, 3}


def test_a_fault_at_the_very_start(tmp_path: Path) -> None:
    """contract: every call of the first write fails in its turn: an error before any work, and then it works."""
    for stop in range(1, 100):
        folder = tmp_path / str(stop)
        with pytest.MonkeyPatch.context() as patch:
            disk = FaultyDisk(patch, stop, "from then on", errno.ENOSPC)
            with contextlib.suppress(CheckpointError):
                opened(folder)
                break
        written(folder, 1)
        assert result(folder) == 1 and len(list(folder.iterdir())) == 2
    assert stop > 6 and disk.calls < stop
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        with pytest.raises(CheckpointError, match=r"no checkpoint can be kept there .* choose a folder"):
            TDAMPRegressor((8,), checkpoint_dir=place).fit(X, Y[:, 0])
    assert (tmp_path / "file").read_text() == "mine"


def damages(content: bytes) -> list[bytes]:
    """Flipped, cut, inserted and zeroed bytes, at both ends and at random."""
    rng = np.random.default_rng(1)
    made = [b"", content[:1], content[:-1], content + b"\0"]
    for at in rng.integers(len(content), size=40):
        flipped = bytes([content[at] ^ int(rng.integers(1, 256))])
        made += [content[:at] + flipped + content[at + 1 :], content[:at], content[:at] + flipped + content[at:]]
        made += [content[:at] + bytes(len(content) - at)] if any(content[at:]) else []
    return made


def test_damaged_bytes(tmp_path: Path) -> None:
    """contract: 160 damages of the newest file: a warning, and the one before it; of both: a new beginning."""
    written(tmp_path, 1)
    written(tmp_path, 2)
    newest, before = tmp_path / "training-000002.checkpoint", tmp_path / "training-000001.checkpoint"
    contents = newest.read_bytes(), before.read_bytes()
    made = damages(contents[0])
    for damaged in made:
        newest.write_bytes(damaged)
        with pytest.warns(CheckpointWarning, match="000002.checkpoint.*damaged, and removed"):
            assert result(tmp_path) == 1
    assert len(made) > 150
    newest.write_bytes(contents[0])
    assert result(tmp_path) == 2
    for path, content in zip((newest, before), contents, strict=True):
        path.write_bytes(content[: len(content) // 2])
    with pytest.warns(CheckpointWarning) as caught:
        assert result(tmp_path) is None
    assert len(caught) == 2
    start = tmp_path / "start-000000.checkpoint"
    written(tmp_path, 5)
    start.write_bytes(b"")
    with pytest.warns(CheckpointWarning, match="start"), pytest.raises(CheckpointError, match="seed differs"):
        Checkpoint(tmp_path, {"seed": 4})  # the others say what the problem is
    assert Checkpoint(tmp_path, {"seed": 4}, any_seed=True).fingerprint == FINGERPRINT


def test_a_newer_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: what a later tdamp has written is not read as if it were ours."""
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "SCHEMA", checkpoint.SCHEMA + 1)
        written(tmp_path, 1)
    with pytest.raises(CheckpointError, match="newer tdamp"):
        result(tmp_path)


def test_training_outlives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: a training without checkpoints; the kernel refuses every file from the third epoch on.

    One warning says so. The rerun goes on from the file before the last good one, which is cut in half meanwhile.
    """
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)
    whole = fit(NETWORK, X, Y, SETTINGS)
    with contextlib.ExitStack() as full, pytest.warns(CheckpointWarning, match="File too large.*has room") as caught:

        def callback(epoch: int, *_: Any) -> None:
            if epoch == 3:
                full.enter_context(no_room(100))

        same(fit(NETWORK, X, Y, SETTINGS, callback=callback, checkpoint=tmp_path), whole)
    assert len(caught) == 1
    newest = tmp_path / "training-000002.checkpoint"
    assert sorted(tmp_path.glob("training*")) == [tmp_path / "training-000001.checkpoint", newest]
    called: list[int] = []
    newest.write_bytes(newest.read_bytes()[:2000])
    with pytest.warns(CheckpointWarning, match="damaged, and removed"):
        again = fit(NETWORK, X, Y, SETTINGS, callback=lambda epoch, *_: called.append(epoch), checkpoint=tmp_path)
    same(again, whole)
    assert called == [2, 3, 4, 5, 6]


def test_a_record_that_json_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: a callback that puts an object into a record costs the checkpoint, not the training."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)

    def callback(epoch: int, fitted: Any, record: dict[str, Any]) -> None:
        record["mine"] = object()

    with pytest.warns(CheckpointWarning, match="not JSON serializable") as caught:
        trained = fit(NETWORK, X, Y, SETTINGS, callback=callback, checkpoint=tmp_path)
    assert len(caught) == 1 and len(trained.history) == 6


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 512 kB; only root may have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def fill(disk: Path) -> None:
    """To the last byte."""
    with contextlib.suppress(OSError), (disk / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


@pytest.mark.soak
def test_a_real_disk(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: a training without checkpoints, on a disk that is full for two epochs, and read-only for two more.

    Then a model is saved on the full disk: the old one is still there, byte for byte.
    """
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)
    whole = fit(NETWORK, X, Y, replace(SETTINGS, max_epochs=9))
    place, newest = small_disk / "c", {}

    def callback(epoch: int, *_: Any) -> None:
        newest[epoch] = max((path.name for path in place.glob("training-*.checkpoint")), default="none")
        if epoch == 3:
            fill(small_disk)
        if epoch == 5:
            (small_disk / "filling").unlink()
        if epoch in (6, 8):
            way = "ro" if epoch == 6 else "rw"
            subprocess.run(["mount", "-o", f"remount,{way}", small_disk], check=True)

    with pytest.warns(CheckpointWarning, match="No space left on device") as caught:
        same(fit(NETWORK, X, Y, replace(SETTINGS, max_epochs=9), callback=callback, checkpoint=place), whole)
    assert len(caught) == 1
    assert [newest[epoch][9:15] for epoch in range(2, 10)] == [f"{n:06d}" for n in (1, 2, 2, 2, 5, 5, 5, 8)]
    same(fit(NETWORK, X, Y, replace(SETTINGS, max_epochs=9), checkpoint=place), whole)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(CheckpointError, match="Read-only file system"):
        fit(NETWORK, X, Y, SETTINGS, checkpoint=small_disk / "other")
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    model = TDAMPRegressor((8,), max_epochs=2, batch_size=32, random_state=0).fit(X, Y[:, 0])
    model.save(small_disk / "m")
    before = {path.name: path.read_bytes() for path in (small_disk / "m").iterdir()}
    fill(small_disk)
    for problem in ("full", "read-only"):
        with pytest.raises(OSError, match="No space left" if problem == "full" else "Read-only"):
            model.partial_fit(X, Y[:, 0]).save(small_disk / "m")
        assert {path.name: path.read_bytes() for path in (small_disk / "m").iterdir()} == before
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    load(small_disk / "m")
