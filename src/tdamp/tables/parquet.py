"""Parquet files, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import TableError, need
from .table import check_names

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: Path) -> pd.DataFrame:
    """All columns; a named index that pandas had put away becomes a column again."""
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
