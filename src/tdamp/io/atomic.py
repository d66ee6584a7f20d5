"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PART = ".part"
"""Suffix of a file that is still being written."""


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file so that after a crash `path` holds its old content or the new one, never a piece of it."""
    path = Path(path)
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")  # two processes may write the same file
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    settle(path.parent)


def rename_whole(old: Path, new: Path) -> None:
    """Give a file another name, for good, in place of what had that name."""
    os.replace(old, new)
    settle(new.parent)


def settle(folder: Path) -> None:
    """Flush the folder's entries to the disk, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
