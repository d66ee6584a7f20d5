"""The user's cache folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tdamp.io import cache


def test_cache_folder_of_each_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """contract: the variable, then what each system prescribes."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    assert cache.cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv(cache.VARIABLE, "~/here")
    assert cache.cache_folder() == Path("/home/ada/here")
    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.cache_folder() == Path("/home/ada/.cache/tdamp")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.cache_folder() == Path("/home/ada/.cache/tdamp")
    monkeypatch.setenv("XDG_CACHE_HOME", "/fast")
    assert cache.cache_folder() == Path("/fast/tdamp")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.cache_folder() == Path("/home/ada/Library/Caches/tdamp")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert cache.cache_folder() == Path("/home/ada/AppData/Local/tdamp")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert cache.cache_folder() == Path("/local/tdamp")
