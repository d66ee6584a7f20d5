"""The user's cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
