"""Debian packages as carriers of data: downloaded by apt-get as a user, read without dpkg, never installed.

A .deb file is an ar archive (`man 5 deb`) of which the member data.tar holds the files, packed with xz, gzip or zstd.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .carriers import Carrier, tar_members
from .errors import DataDamaged
from .files import Contents

APT: tuple[str, ...] = ("apt-get",)
# few retries, so that a machine without a network learns it in seconds
OPTIONS = ("--quiet", "--option", "Acquire::Retries=2")
_MAGIC, _HEADER, _END = b"!<arch>\n", 60, b"`\n"
_NAME, _SIZE = slice(0, 16), slice(48, 58)


@dataclass(frozen=True)
class DebianPackage(Carrier):
    """A package of Debian and its descendants, in the version that the machine's release has.

    Mirrors keep one version for each release, so none is asked for: what is pinned is the content of the files.
    """

    package: str
    size: int
    kind: ClassVar[str] = "Debian package"
    tool: ClassVar[str] = "apt-get"
    hint: ClassVar[str] = "If apt-get does not know the package, `sudo apt-get update` renews its lists."

    @property
    def requirement(self) -> str:
        """The package as apt-get reads it."""
        return self.package

    @property
    def label(self) -> str:
        """The package, and where it is from."""
        return f"{self.package} (Debian)"

    @property
    def file(self) -> str:
        """Its file name in any version; data are the same on all machines."""
        return f"{self.package}_*_all.deb"

    @property
    def command(self) -> str:
        """The command that downloads it by hand."""
        return f"apt-get download {self.package}"

    def command_line(self, folder: Path) -> Sequence[str]:
        """`apt-get download`, which needs no rights and installs nothing; the file comes to where it is started."""
        return [*APT, *OPTIONS, "download", self.package]

    def error(self, lines: Sequence[str]) -> str:
        """The last of apt-get's errors."""
        return next((line for line in reversed(lines) if line.startswith("E:")), "")

    def extract(self, path: Path, wanted: Collection[str]) -> Contents:
        """Files of the member data.tar, whatever it is packed with."""
        for name, content in ar_members(path.read_bytes()):
            if name.startswith("data.tar"):
                try:
                    return tar_members(io.BytesIO(content), wanted)
                except tarfile.ReadError as error:
                    if not name.endswith(".zst"):
                        raise
                    raise DataDamaged(_zstd_message(path.name)) from error
        raise KeyError("it has no data.tar")


def ar_members(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each member of an ar archive."""
    if not raw.startswith(_MAGIC):
        raise tarfile.ReadError("it is no ar archive")
    at = len(_MAGIC)
    while at < len(raw):
        header = raw[at : at + _HEADER]
        if len(header) < _HEADER or not header.endswith(_END) or not header[_SIZE].strip().isdigit():
            raise tarfile.ReadError(f"no header of a member at byte {at}")
        size, start = int(header[_SIZE]), at + _HEADER
        if start + size > len(raw):
            raise EOFError(f"it ends at byte {len(raw)}, inside a member")
        yield header[_NAME].decode("ascii", "replace").rstrip().rstrip("/"), raw[start : start + size]
        at = start + size + size % 2  # members begin at even bytes


def _zstd_message(file: str) -> str:
    return (
        f"The files in {file} are packed with zstd, which this version of Python cannot unpack. Type\n"
        f"    dpkg-deb -x {file} unpacked\n"
        f"and put the data set's files, which are then below unpacked/, into the folder instead."
    )
