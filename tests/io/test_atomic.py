"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tdamp.io import atomic


def test_a_file_is_replaced(tmp_path: Path) -> None:
    """identity: the new content in place of the old, and nothing beside it."""
    path = tmp_path / "a"
    for content in (b"old", b"new"):
        atomic.write_whole(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["a"]


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: where the last step fails the old content stays, and no part of the new one is left."""

    def fail(*_: object) -> None:
        raise OSError("disk full")

    path = tmp_path / "a"
    atomic.write_whole(path, b"old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        atomic.write_whole(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]
