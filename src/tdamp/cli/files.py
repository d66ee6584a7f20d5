"""Files and folders of the commands: tables to read, models to open, places that must be writable before training."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exit_codes import FAILED, USAGE, CommandError
from .output import print_status

if TYPE_CHECKING:
    import pandas as pd

    from ..estimators import Estimator
    from ..tables import Encoder

FACTS = {"task", "targets", "data", "train_rows", "test_rows", "noise_std", "test"}
"""What `tdamp fit` stores at least; facts without them come from another program and are ignored."""


@dataclass(frozen=True)
class Model:
    """A model folder: the estimator, its encoder (None if it was saved from Python), and the facts of its fit."""

    folder: Path
    estimator: Estimator
    encoder: Encoder | None
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the folder, also where the path is `.`."""
        return self.folder.resolve().name

    def trained_on(self, path: Path) -> bool:
        """Whether a file is the very one of the fit."""
        return bool(self.facts) and self.facts["data"].get("sha256") == file_digest(path)

    def require_encoder(self) -> Encoder:
        """The encoder, without which no table can be read."""
        if self.encoder is None:
            raise CommandError(
                f"{self.folder} holds no table encoder, as it was saved from Python: "
                f"read it there with tdamp.load({str(self.folder)!r}), or make it with `tdamp fit`.",
                FAILED,
            )
        return self.encoder


def open_model(folder: Path) -> Model:
    """The model in a folder; CommandError where there is none."""
    from .. import estimators  # noqa: F401  whose classes are then known to persistence
    from ..persistence.save import load_with_extra
    from ..tables import Encoder, TableError

    if not folder.exists():
        raise CommandError(
            f"There is no folder {folder}. Expected a model that `tdamp fit ... --out {folder}` has made."
        )
    estimator, extra = load_with_extra(folder)
    stored = extra.get("encoder")
    try:
        encoder = None if stored is None else Encoder.from_json(stored)
    except TableError as error:
        raise CommandError(
            f"{folder}: the stored encoder is damaged ({error}): fit the model again.", FAILED
        ) from error
    n_features = estimator.n_features_in_
    if encoder is not None and len(encoder.feature_names) != n_features:
        raise CommandError(
            f"{folder}: the encoder makes {len(encoder.feature_names)} inputs, but the network has {n_features}: "
            "config.json was changed; fit the model again.",
            FAILED,
        )
    facts = extra.get("facts")
    if not isinstance(facts, dict) or not facts.keys() >= FACTS:
        facts = {}
    return Model(folder, estimator, encoder, facts)


def read_data(path: Path) -> pd.DataFrame:
    """The table in a file; CommandError where it cannot be read."""
    from ..tables import TableError, read_table

    try:
        return read_table(path)
    except TableError as error:
        missing = isinstance(error, ImportError) or not path.is_file()
        raise CommandError(str(error), USAGE if missing else FAILED) from error


@contextmanager
def naming_file(path: Path, code: int = FAILED) -> Iterator[None]:
    """Errors of a table inside this block name the file and end the command with this exit code."""
    from ..tables import TableError

    try:
        yield
    except TableError as error:
        raise CommandError(f"{path}: {error}", code) from error


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_model_out(folder: Path, force: bool) -> None:
    """End the command, before hours of training, if the model could not be saved there."""
    from ..io.errors import ModelFileError
    from ..persistence import folder as store

    try:
        store.check_ours(folder)
    except ModelFileError as error:
        raise CommandError(str(error)) from error
    if not force and (folder / store.CONFIG).exists():
        raise CommandError(f"{folder} holds a model already: add --force to replace it, or choose another folder.")
    check_writable(folder)


def check_checkpoint(folder: Path | None, out: Path) -> None:
    """End the command if a checkpoint could not be kept there, or would be in the model's way."""
    if folder is None:
        return
    if out.resolve() in (folder.resolve(), *folder.resolve().parents):
        raise CommandError(f"--checkpoint {folder} lies in the model's folder {out}: choose a folder outside it.")
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--checkpoint {folder}: a file is in the way; choose another folder.")
    check_writable(folder)


def clear_checkpoint(folder: Path) -> None:
    """Remove a checkpoint that is no longer needed; a failure is reported, and the model is complete all the same."""
    from ..training.checkpoint import clear

    try:
        clear(folder)
    except OSError as error:
        print_status(f"{folder}: the checkpoint could not be removed ({error.strerror}): delete it.")


def check_writable(path: Path) -> None:
    """Write to the nearest folder that exists, as permissions alone are no proof; end the command if that fails."""
    place = path.absolute()
    while not place.exists():
        place = place.parent
    try:
        if place == path.absolute() and place.is_file():
            with place.open("ab"):
                return
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise CommandError(
            f"{path} cannot be written ({os.strerror(error.errno) if error.errno else error}): "
            "choose a folder that you may write to."
        ) from error
