"""Where the data files are: a folder given, the one named by TDAMP_DATA, or `shared/data` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "TDAMP_DATA"
BESIDE_CHECKOUT = Path(__file__).resolve().parents[4] / "shared" / "data"


class DataNotFound(FileNotFoundError):
    """A data set is in none of the folders looked at; the message says where to put it."""


def locate(name: str, files: tuple[str, ...], folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds `files` of the data set `name`, either itself or as its subfolder `name`.

    A folder that was asked for, by argument or environment variable, is the only one looked at.
    """
    asked = folder if folder is not None else os.environ.get(VARIABLE)
    root = Path(asked) if asked else BESIDE_CHECKOUT
    for place in (root / name, root):
        if all((place / file).is_file() for file in files):
            return place
    where = f"in {asked!s}" if asked else "in shared/data beside the checkout"
    raise DataNotFound(
        f"The data set {name!r} was not found {where}. Put its files ({', '.join(files)}) into a folder "
        f"<data>/{name}/ and pass <data> as `folder`, or set the environment variable {VARIABLE} to <data>."
    )
