"""A file of a data set by name and content, as it is pinned."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from typing import NamedTuple

from .errors import DataDamaged

# level 9, the default, takes 15 s for MNIST instead of 1 s and saves 2 %
_LEVEL = 6
Contents = dict[str, bytes]
"""Unpacked bytes of each file, by its name."""


class File(NamedTuple):
    """A file by name, the SHA-256 of its content, and its path inside the package ("" if it is not there).

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
