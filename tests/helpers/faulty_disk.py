"""A disk that fails, for the tests of files that must survive it."""

from __future__ import annotations

import io
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest

from tdamp.io import atomic

Way = Literal["once", "from then on", "crash"]


class Crash(BaseException):
    """The machine stops."""


class FaultyDisk:
    """The n-th call that touches the disk fails: it alone, it and all that follow, or the machine stops there.

    A call is an open, a write (half of which is done), an fsync, a rename, a removal or a listing.
    """

    def __init__(self, patch: pytest.MonkeyPatch, stop: int, way: Way, errno: int) -> None:
        self.calls, self.stop, self.way, self.errno = 0, stop, way, errno
        for name in ("replace", "fsync", "unlink", "open", "listdir"):
            patch.setattr(os, name, self._wrapped(getattr(os, name)))
        patch.setattr(atomic, "open", self._opened, raising=False)

    def fails(self) -> bool:
        """Whether this call does."""
        self.calls += 1
        return self.calls == self.stop or (self.calls > self.stop and self.way != "once")

    def fail(self) -> None:
        """As it does."""
        raise Crash if self.way == "crash" else OSError(self.errno, os.strerror(self.errno))

    def _wrapped(self, real: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            if self.fails():
                self.fail()
            return real(*args, **more)

        return call

    def _opened(self, path: Any, mode: str) -> Any:
        if self.fails():
            self.fail()
        file = Half(path, mode)
        file.disk = self
        return file


class Half(io.FileIO):
    """A file on a faulty disk: half of the write that fails is done."""

    disk: FaultyDisk

    def write(self, data: Any) -> int:
        """All of it, or half and an error."""
        if self.disk.fails():
            super().write(data[: len(data) // 2])
            self.disk.fail()
        return super().write(data)


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """The kernel itself refuses to write files of more than so many bytes (EFBIG; Python ignores the signal)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
