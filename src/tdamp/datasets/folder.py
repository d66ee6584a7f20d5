"""Which folder holds a data set: one asked for, else `shared/data` beside the checkout, else the user's cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from ..io.cache import cache_folder
from .errors import DataDamaged
from .pinned import Contents, DataSet, File, Form

VARIABLE = "TDAMP_DATA"
BESIDE_CHECKOUT = Path(__file__).resolve().parents[4] / "shared" / "data"
Folder = str | os.PathLike[str] | None


class Place(NamedTuple):
    """A folder with the files of one form in it, or with the package (`form` is None)."""

    path: Path
    form: Form | None


def asked_folder(folder: Folder = None) -> Path | None:
    """The argument, else $TDAMP_DATA, else None. A folder that was asked for is the only one looked at."""
    asked = folder if folder is not None else os.environ.get(VARIABLE)
    return Path(asked).expanduser() if asked else None


def kept_folder() -> Path:
    """Where fetched data are kept unless a folder was asked for."""
    return cache_folder() / "data"


def locate(data: DataSet, folder: Folder = None) -> Place | None:
    """Where the data set is, by the names of its files, or None."""
    asked = asked_folder(folder)
    if asked is not None:
        return find(data, asked)
    return find(data, BESIDE_CHECKOUT) or find(data, kept_folder())


def may_replace(place: Place, folder: Folder = None) -> bool:
    """Only the cache is ours: a broken file there is fetched again, one in a person's folder is theirs to remove."""
    return asked_folder(folder) is None and place.path.is_relative_to(kept_folder())


def find(data: DataSet, root: Path) -> Place | None:
    """Where the data set is: in the subfolder of its name below `root`, or in `root`, as files or as the package."""
    for path in (root / data.name, root):
        for form in data.forms:
            if all((path / file.name).is_file() for file in form) and not any(_holds(path, f) for f in data.foreign):
                return Place(path, form)
        if data.carrier.find(path) is not None:
            return Place(path, None)
    return None


def read(data: DataSet, place: Place, verify: bool = True) -> Contents:
    """The content of every file of the data set, checked."""
    if place.form is None:
        package = data.carrier.find(place.path) or place.path / data.carrier.file
        return data.carrier.members(package, data.members, verify)
    contents: Contents = {}
    for file in place.form:
        content = file.unpack((place.path / file.name).read_bytes())
        contents[file.name] = file.check(content, str(place.path)) if verify else content
    return contents


def _holds(path: Path, file: File) -> bool:
    """Whether a folder has this file under its name; small ones only, since it is read."""
    try:
        content = file.unpack((path / file.name).read_bytes())
    except (OSError, DataDamaged):
        return False
    return hashlib.sha256(content).hexdigest() == file.sha256
