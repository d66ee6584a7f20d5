"""Checkpoints: a folder with what a training has come to, so that it goes on there after its process has ended.

A fit is made of one training or several (stages); each has files <stage>-<epochs>.checkpoint (`records`), the newest
and the one before it. A file is written under another name and then renamed, so a crash leaves those that were there.
The folder belongs to the trainings of one fingerprint; one process may train in it at a time. How often is written
changes no result.
Oracle: a training that nobody stopped, bit for bit.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from ..io import records
from ..io.atomic import PART, settle
from ..io.records import Arrays, Damaged
from .fingerprint import Fingerprint, differences

SCHEMA = 1
SECONDS = 10.0
"""Least time between two writes of a stage: short epochs are not slowed by the disk, and no more than this is lost."""
SHARE = 0.05
"""Largest share of the time that goes into writing where files are large or disks slow: then it is done less often."""
KEPT = 2
"""Files of a stage: should the newest be damaged on the disk, there is the one before it."""
START = "start"
"""The stage before all others: it is written first, and holds the fingerprint with its seed."""

_NAME = re.compile(r"(?P<stage>[a-z]+\d*)-(?P<epochs>\d{6,})\.checkpoint")
_LEFTOVER = re.compile(rf"{_NAME.pattern}\.\d+{re.escape(PART)}")


class CheckpointError(ValueError):
    """A folder's checkpoint cannot be used, or none can be written there; the text says what to do."""


class CheckpointWarning(UserWarning):
    """A checkpoint was damaged, or could not be written; the training goes on."""


class Memory(Protocol):
    """What must be remembered beside the training itself, such as predictions made after its epochs."""

    def packed(self) -> Arrays:
        """What is remembered, as arrays."""

    def unpack(self, arrays: Arrays) -> None:
        """Remember what these arrays say."""


class Checkpoint:
    """The checkpoint of a training by its fingerprint (`problem` in the files), begun or found in a folder."""

    def __init__(self, folder: str | Path, fingerprint: Fingerprint, any_seed: bool = False) -> None:
        """Raises CheckpointError before any work if the folder cannot be used; `any_seed` takes the one found there."""
        self.folder, self.fingerprint, self.warned = Path(folder), fingerprint, False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            settle(self.folder.parent)
            before = self._stored_fingerprint()
            if before is not None and any_seed:
                self.fingerprint = {**fingerprint, "seed": before["seed"]}
            self.check(before)
            for name in os.listdir(self.folder):
                if _LEFTOVER.fullmatch(name):
                    os.unlink(self.folder / name)
            self.write(START, 0, {}, {})
        except OSError as error:
            raise CheckpointError(
                f"{self.folder}: no checkpoint can be kept there ({error.strerror or error}): "
                "choose a folder that can be written to, on a disk with room"
            ) from error

    def _stored_fingerprint(self) -> Fingerprint | None:
        """The fingerprint in the first file that is whole; they all have it, and the one of START is read first."""
        names = sorted(self._files(), key=lambda name: (not name.startswith(START), name))
        whole = (self.read(name) for name in names)
        return next((stored[1]["problem"] for stored in whole if stored is not None), None)

    def check(self, before: Fingerprint | None) -> None:
        """Refuse to go on from a training with another fingerprint."""
        differ = [] if before is None else differences(before, self.fingerprint)
        if differ:
            raise CheckpointError(
                f"{self.folder}: holds the checkpoint of another training ({'; '.join(differ)}). To go on with that "
                "one, ask for the same again; to begin this one, choose another folder or delete this one"
            )

    def stage(self, name: str, memory: Memory | None = None) -> Stage:
        """A training that the fit is made of."""
        return Stage(self, name, memory)

    def write(self, stage: str, epochs: int, arrays: Arrays, words: dict[str, Any]) -> None:
        """A file of a stage, whole or not at all."""
        header = {"schema": SCHEMA, "problem": self.fingerprint, **words}
        records.write(self.folder / f"{stage}-{epochs:06d}.checkpoint", arrays, header)

    def read(self, name: str) -> tuple[Arrays, dict[str, Any]] | None:
        """A file, or None after a warning when it is damaged: then it is removed."""
        try:
            arrays, words = records.read(self.folder / name)
        except Damaged as error:
            warnings.warn(
                f"{self.folder}: {error}: damaged, and removed. The one before it is used, or training begins anew. "
                "Check the disk: a crash alone damages no checkpoint.",
                CheckpointWarning,
                stacklevel=2,
            )
            with contextlib.suppress(OSError):
                os.unlink(self.folder / name)
            return None
        if words["schema"] > SCHEMA:
            raise CheckpointError(f"{self.folder}: written by a newer tdamp: upgrade tdamp, or choose another folder")
        return arrays, words

    def files_of(self, stage: str) -> list[str]:
        """Names of the files of a stage, the newest first."""
        names = (name for name, its in self._files().items() if its == stage)
        return sorted(names, key=lambda name: (len(name), name), reverse=True)  # after a million epochs they are longer

    def _files(self) -> dict[str, str]:
        """Every file of ours, and its stage."""
        matches = ((name, _NAME.fullmatch(name)) for name in os.listdir(self.folder))
        return {name: match["stage"] for name, match in matches if match}

    def failed(self, error: Exception) -> None:
        """Say once that nothing could be written: training is worth more than its checkpoint."""
        if not self.warned:
            self.warned = True
            warnings.warn(
                f"{self.folder}: a checkpoint could not be written ({error}). Training goes on, and the last good one "
                "is still there. Check that the disk has room and the folder can be written to: then the next one is.",
                CheckpointWarning,
                stacklevel=2,
            )


class Stage:
    """The files of one training."""

    def __init__(self, checkpoint: Checkpoint, name: str, memory: Memory | None) -> None:
        self.checkpoint, self.name, self.memory = checkpoint, name, memory
        self.next = time.monotonic() + SECONDS

    @property
    def is_due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() >= self.next

    def load(self) -> tuple[Arrays, dict[str, Any]] | None:
        """The newest file that is whole, None if there is none; the memory takes what belongs to it."""
        for stored in self._whole():
            self.checkpoint.check(stored[1]["problem"])
            if self.memory is not None:
                self.memory.unpack(records.below(stored[0], "memory"))
            return stored
        return None

    def _whole(self) -> Iterator[tuple[Arrays, dict[str, Any]]]:
        for name in self.checkpoint.files_of(self.name):
            stored = self.checkpoint.read(name)
            if stored is not None:
                yield stored

    def save(self, epochs: int, arrays: Arrays, words: dict[str, Any]) -> None:
        """Write, and remove what is older than the one before; what goes wrong with the disk is a warning."""
        began = time.monotonic()
        if self.memory is not None:
            arrays = arrays | {f"memory.{name}": array for name, array in self.memory.packed().items()}
        try:
            self.checkpoint.write(self.name, epochs, arrays, words)
            for name in self.checkpoint.files_of(self.name)[KEPT:]:
                os.unlink(self.checkpoint.folder / name)
        except (OSError, TypeError) as error:  # a TypeError: a callback has put something into a record that JSON lacks
            self.checkpoint.failed(error)
        now = time.monotonic()
        self.next = now + max(SECONDS, (now - began) / SHARE)


def clear(folder: str | Path) -> None:
    """Remove a checkpoint, and its folder if nothing else is in it."""
    folder = Path(folder)
    for name in os.listdir(folder) if folder.is_dir() else ():
        if _NAME.fullmatch(name) or _LEFTOVER.fullmatch(name):
            os.unlink(folder / name)
    with contextlib.suppress(OSError):
        folder.rmdir()
