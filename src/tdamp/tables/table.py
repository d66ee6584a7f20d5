"""A frame of any make, seen as named columns of cells."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .cells import Cells, cells_of
from .errors import TableError, absent, listing

if TYPE_CHECKING:
    import pandas as pd


def tidy(name: object) -> str:
    """A column's name as it is compared: composed characters, no outer spaces."""
    return unicodedata.normalize("NFC", str(name)).strip()


def check_names(names: Iterable[str]) -> None:
    """Names that tell the columns apart, or TableError."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"Column names must differ, but {listing(twice)} occur more than once: rename them")


class Table:
    """Columns by name; the frame itself is never changed."""

    def __init__(self, frame: Any) -> None:
        """Take a pandas or polars frame, an Arrow table, or a dict of columns."""
        self.frame = as_pandas(frame)
        self.names = tuple(tidy(name) for name in self.frame.columns)
        check_names(self.names)
        foreign = {
            name: dtype.newbyteorder("=")
            for name, dtype in self.frame.dtypes.items()
            if isinstance(dtype, np.dtype) and not dtype.isnative
        }
        if foreign:  # pandas holds numbers of the other byte order, but cannot select rows of them
            self.frame = self.frame.astype(foreign)
        self._position = {name: position for position, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def __contains__(self, name: str) -> bool:
        """Whether there is a column of this name."""
        return name in self._position

    def need(self, names: Iterable[str]) -> None:
        """TableError unless all these columns are there."""
        lacking = [name for name in names if name not in self]
        if lacking:
            raise TableError(absent(lacking, self.names))

    def cells(self, name: str) -> Cells:
        """The cells of one column."""
        return cells_of(self.frame.iloc[:, self._position[name]], name)

    def rows(self, mask: np.ndarray) -> Table:
        """The rows where `mask` is true."""
        return self if mask.all() else Table(self.frame.iloc[np.flatnonzero(mask)])


def as_pandas(frame: Any) -> pd.DataFrame:
    """The same columns as a pandas frame, or TableError."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    try:
        if type(frame).__module__.startswith("polars") and hasattr(frame, "collect"):
            frame = frame.collect()
        if hasattr(frame, "to_pandas"):
            try:
                frame = frame.to_pandas()
            except ImportError:  # polars goes through pyarrow, which may not be there
                frame = frame.to_dict(as_series=False)
        if isinstance(frame, Mapping):
            frame = pd.DataFrame(dict(frame))
    except Exception as error:  # a foreign library, whose errors have no common class
        raise TableError(f"The columns could not be put into one pandas frame: {error}") from error
    if not isinstance(frame, pd.DataFrame):
        raise TableError(
            f"Expected a table with named columns (pandas, polars, or a dict of columns), got {type(frame).__name__}"
        )
    return frame
