"""The user's cache folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdamp.io.cache import cache_folder


def test_the_variable_is_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """contract: $TDAMP_CACHE itself, with the home folder for a tilde; else a folder of the system's caches."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TDAMP_CACHE", "~/here")
    assert cache_folder() == tmp_path / "here"
    monkeypatch.delenv("TDAMP_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder() == tmp_path / "caches" / "tdamp"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    assert cache_folder() == tmp_path / ".cache" / "tdamp"
