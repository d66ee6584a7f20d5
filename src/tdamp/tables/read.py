"""Files to frames: CSV, Parquet and NPZ, distinguished by the suffix of the name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .delimited import read_delimited
from .errors import TableError, close, need
from .npz import read_npz
from .table import check_names, tidy

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: Path) -> pd.DataFrame:
    """All columns of a Parquet file, through pyarrow; a named index that pandas had put away becomes a column again."""
    parquet = need("pyarrow.parquet")
    import pandas as pd

    try:
        table = parquet.ParquetFile(path).read()
        check_names(table.column_names)
        frame = table.to_pandas()
    except (TableError, OSError):
        raise
    except Exception as error:  # of pyarrow, or of pandas' own notes in a damaged file
        raise TableError(f"not a Parquet file that can be read ({error}): write it again") from error
    if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
        return frame
    named = [name for name in frame.index.names if name is not None]
    check_names([*map(str, named), *map(str, frame.columns)])
    return frame.reset_index(level=named).reset_index(drop=True) if named else frame.reset_index(drop=True)


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".tab": read_delimited,
    ".txt": read_delimited,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npz": read_npz,
}


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The table of a file, or TableError.

    The cells of a text file stay text, as written: what they mean is for `Encoder` to decide, once for training and
    all later files. The index of such a frame is called `line` and has the line numbers of the file; its `attrs` hold
    `encoding` and `delimiter`.
    """
    path = Path(path)
    if not path.exists():
        raise TableError(f"There is no file {path}.{_near(path)}")
    if not path.is_file():
        raise TableError(f"{path} is not a file: give the path of a table ({', '.join(READERS)})")
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    reader = READERS.get(suffix)
    if reader is None or (name.endswith(".gz") and reader is not read_delimited):
        raise TableError(
            f"{path}: tables are read from {', '.join(READERS)} (text files also as .gz), not from "
            f"{path.suffix or 'a file without an ending'!r}: save the table as CSV"
        )
    try:
        if path.stat().st_size == 0:
            raise TableError("the file is empty")
        frame = reader(path)
        check_names(tidy(column) for column in frame.columns)
    except TableError as error:
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}") from error
    if not len(frame.columns) or not len(frame):
        raise TableError(f"{path} has {len(frame.columns)} columns but no rows: there is nothing to read")
    return frame


def _near(path: Path) -> str:
    try:
        names = sorted(other.name for other in path.parent.iterdir())
    except OSError:
        return f" The folder {path.parent} does not exist."
    return close(path.name, names)
