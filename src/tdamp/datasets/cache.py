"""The user's cache folder, and files that are written whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .. import files
from .errors import DataNotFound

VARIABLE = "TDAMP_CACHE"


def cache_folder() -> Path:
    """$TDAMP_CACHE itself, else the subfolder `tdamp` of where this system keeps caches."""
    asked = os.environ.get(VARIABLE)
    return Path(asked).expanduser() if asked else _system_caches() / "tdamp"


def _system_caches() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # the XDG specification says that a relative path is to be ignored
    return Path(xdg) if os.path.isabs(xdg) else Path.home() / ".cache"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, then move it there: a reader sees the old file or the new one, never a part."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(path, content)
    except OSError as error:
        raise DataNotFound(
            f"{path.name} was fetched but could not be written to {path.parent} ({error}). Set the environment "
            f"variable {VARIABLE} to a folder that you can write to and that has {len(content) / 1e6:.1f} MB free."
        ) from error
