"""Packages that have the files of a data set in them: brought by their registry's own tool, never installed."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, ClassVar

from .errors import DataDamaged
from .files import Contents, Form

UNREADABLE = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, KeyError, EOFError)


class Carrier(ABC):
    """A package that a tool can download; `size` in bytes is what a download is measured by."""

    package: str
    size: int
    kind: ClassVar[str]
    """What the file is, for messages."""
    tool: ClassVar[str]
    """What the tool is called, for messages."""
    starts_in_folder: ClassVar[bool] = True
    """Whether the tool is started in the folder that the file is to come to; False: where the caller is."""
    hint: ClassVar[str] = ""
    """A further sentence of advice for the error of a download that failed."""

    @property
    @abstractmethod
    def requirement(self) -> str:
        """The package as the tool reads it."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The package as the catalog shows it."""

    @property
    @abstractmethod
    def file(self) -> str:
        """The file's name; a star is for what may vary."""

    @property
    @abstractmethod
    def command(self) -> str:
        """The command that downloads it by hand."""

    @abstractmethod
    def command_line(self, folder: Path) -> Sequence[str]:
        """The program and its arguments that bring the file to `folder`; `folder`/work is for the tool's own files."""

    @abstractmethod
    def error(self, lines: Sequence[str]) -> str:
        """The line that says most, of those that a tool wrote before it failed; "" if there is none."""

    @abstractmethod
    def extract(self, path: Path, wanted: Collection[str]) -> Contents:
        """The members of the archive at `path` by their paths in it; raises one of `UNREADABLE`."""

    def find(self, folder: Path) -> Path | None:
        """The file in `folder`, the last of several by name, or None."""
        found = sorted(path for path in folder.glob(self.file) if path.is_file())
        return found[-1] if found else None

    def members(self, path: Path, files: Form, verify: bool = True) -> Contents:
        """The content of `files` inside the archive at `path`, checked."""
        try:
            stored = self.extract(path, {file.member for file in files})
        except UNREADABLE as error:
            why = next(iter(str(*error.args[:1]).splitlines()), type(error).__name__).rstrip(":")  # tarfile's are long
            raise DataDamaged(
                f"{path.name} cannot be read as the {self.kind} it should be ({why}). Fetch it again."
            ) from error
        contents = {file.name: file.unpack(stored[file.member]) for file in files}
        return {file.name: file.check(contents[file.name], path.name) for file in files} if verify else contents


def tar_members(archive: IO[bytes], wanted: Collection[str]) -> Contents:
    """Files of a tar archive, packed or not, by their paths in it."""
    found: Contents = {}
    with tarfile.open(fileobj=archive, mode="r:*") as tar:
        for info in tar:  # in their order, since going back in a packed archive means to unpack it anew
            name = info.name.removeprefix("./")
            stream = tar.extractfile(info) if name in wanted and info.isfile() else None
            if stream is not None:
                found[name] = stream.read()
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise KeyError(f"it has no {', '.join(missing)}")
    return found
