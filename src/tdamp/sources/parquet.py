"""Parquet files of numbers, through pyarrow (extra `tables`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import need
from .source import Piece, Source

PIECE = 2**20
"""Numbers that are read at a time."""
BUFFER = 2**18
"""Bytes of each column that are read ahead; without a buffer the whole row group would be, however large."""


class Parquet(Source):
    """A Parquet file, several of them, or a folder of them, with the columns to predict named by `target`.

    `weight` names a column of sample weights, and `columns` the inputs: by default all others. Inputs must be numbers,
    without missing cells; a classifier's target may be anything. Memory grows with the largest row group of the files.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        target: str | Sequence[str],
        *,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        spill_dir: str | Path | None = None,
    ) -> None:
        super().__init__(spill_dir)
        self.paths = _paths(path)
        self.targets = [target] if isinstance(target, str) else list(target)
        self.weight = weight
        named = [*self.targets, *([] if weight is None else [weight])]
        schemas = [_schema(path) for path in self.paths]
        first = schemas[0]
        self.columns = [name for name in first.names if name not in named] if columns is None else list(columns)
        if not self.columns:
            raise ValueError(f"{self.paths[0]}: no column is left to predict from")
        for path, schema in zip(self.paths, schemas, strict=True):
            _check(path, schema, self.columns, named)
        self.n_rows = sum(_open(path).metadata.num_rows for path in self.paths)

    def pieces(self) -> Iterator[Piece]:
        """Iterate over record batches, file after file."""
        wanted = [*self.columns, *self.targets, *([] if self.weight is None else [self.weight])]
        for path in self.paths:
            start = 0
            for batch in _batches(_open(path), max(1, PIECE // len(wanted)), wanted):
                table: dict[str, Any] = {name: batch.column(name) for name in wanted}
                x = np.column_stack([table[name].to_numpy(zero_copy_only=False) for name in self.columns])
                y = [np.asarray(table[name].to_pandas()) for name in self.targets]
                weight = None if self.weight is None else table[self.weight].to_numpy(zero_copy_only=False)
                where = f"{path.name}, rows {start} to {start + len(x) - 1}"
                yield Piece(x, y[0] if len(y) == 1 else np.column_stack(y), weight, where)
                start += len(x)

    @property
    def names(self) -> list[str]:
        """Names of the inputs."""
        return self.columns


def _paths(path: str | Path | Sequence[str | Path]) -> list[Path]:
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]
    files = [file for one in paths for file in (sorted(one.glob("*.parquet")) if one.is_dir() else [one])]
    if not files:
        raise ValueError(f"{path}: no Parquet file is there")
    return files


def _open(path: Path) -> Any:
    arrow, parquet = need("pyarrow", "tables"), need("pyarrow.parquet", "tables")
    try:
        return parquet.ParquetFile(path, buffer_size=BUFFER)
    except arrow.ArrowException as error:
        raise ValueError(f"{path}: not a Parquet file that can be read: {error}") from error


def _batches(file: Any, rows: int, columns: list[str]) -> Iterator[Any]:
    """One row group after another: gone through at once, pyarrow keeps hold of the groups that are done."""
    for group in range(file.num_row_groups):
        yield from file.iter_batches(rows, row_groups=[group], columns=columns)


def _schema(path: Path) -> Any:
    return _open(path).schema_arrow


def _check(path: Path, schema: Any, columns: Sequence[str], others: Sequence[str]) -> None:
    """All columns are there, and the inputs are numbers."""
    types = need("pyarrow", "tables").types
    for name in [*columns, *others]:
        if schema.names.count(name) != 1:
            raise ValueError(
                f"{path}: {'no column' if name not in schema.names else 'several columns'} {name!r}; "
                f"there are: {', '.join(schema.names)}"
            )
    for name in columns:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"{path}: the column {name!r} holds {kind}, and only numbers can be streamed: "
                "leave it out (columns=...), or write it as numbers first (tdamp.tables.Encoder)"
            )
