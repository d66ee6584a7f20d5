"""Reads a source and checks it: chunks of finite numbers, all of one shape, or an error that says where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .source import Piece, Source

NUMBERS = 2**20
"""Most numbers of x in a chunk: larger pieces are cut."""


class Chunk(NamedTuple):
    """Some rows that were checked."""

    x: np.ndarray  # (rows, inputs), float64
    y: np.ndarray  # (rows, outputs), float64; or (rows,) labels
    weight: np.ndarray  # (rows,), float64


class Shape(NamedTuple):
    """Shape of x and y, which all pieces have in common."""

    n_inputs: int
    names: tuple[str, ...] | None
    n_outputs: int
    single: bool  # whether y has one dimension

    def example(self) -> Any:
        """A row of zeros with the columns of x."""
        zeros = np.zeros((1, self.n_inputs))
        return zeros if self.names is None else pd.DataFrame(zeros, columns=list(self.names))


class Reader:
    """Reads a source once, y as numbers or as labels. After the first chunk `shape` is known; `n_rows` were read."""

    def __init__(self, source: Source, of_labels: bool) -> None:
        self.source, self.of_labels = source, of_labels
        self.shape: Shape | None = None
        self.n_rows = 0

    def chunks(self) -> Iterator[Chunk]:
        """Iterate over every row, in order."""
        for piece in self.source.pieces():
            names = _names(piece.x, self.source)
            x, y = _numbers(piece.x, piece, "x"), self._target(piece)
            self._check_shape(piece, Shape(x.shape[1], names, y.shape[1] if y.ndim == 2 else 1, np.ndim(piece.y) == 1))
            weight = np.ones(len(x)) if piece.weight is None else _weight(piece)
            for name, values in (("y", y), ("weight", weight)):
                if len(values) != len(x):
                    raise ValueError(f"{piece.name}: x has {len(x)} rows, {name} has {len(values)}: they must agree")
            step = max(1, NUMBERS // x.shape[1])
            for start in range(0, len(x), step):
                here = slice(start, start + step)
                chunk = Chunk(np.asarray(x[here], np.float64), y[here], weight[here])
                self._check_finite(piece, "x", chunk.x, names)
                if chunk.y.ndim == 2:  # labels have one dimension, and were checked
                    self._check_finite(piece, "y", chunk.y, None)
                self._check_finite(piece, "weight", chunk.weight[:, None], None)
                self.n_rows += len(chunk.x)
                yield chunk

    def _target(self, piece: Piece) -> np.ndarray:
        if piece.y is None:
            raise ValueError(f"{piece.name}: y is missing")
        return _labels(piece, self.n_rows) if self.of_labels else _number_targets(piece)

    def _check_shape(self, piece: Piece, shape: Shape) -> None:
        if shape.n_inputs == 0:
            raise ValueError(f"{piece.name}: x has no columns")
        if self.shape is None:
            self.shape = shape
        elif shape.n_inputs != self.shape.n_inputs:
            raise ValueError(f"{piece.name}: x has {shape.n_inputs} columns: the rows before had {self.shape.n_inputs}")
        elif shape.names != self.shape.names:
            raise ValueError(
                f"{piece.name}: the columns are {shape.names}: before they were {self.shape.names}; "
                "give them the same names, in the same order"
            )
        elif shape.n_outputs != self.shape.n_outputs:
            raise ValueError(f"{piece.name}: y has {shape.n_outputs} outputs: before there were {self.shape.n_outputs}")

    def _check_finite(self, piece: Piece, what: str, values: np.ndarray, names: tuple[str, ...] | None) -> None:
        bad = ~np.isfinite(values)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise ValueError(
                f"{piece.name}: {what} has {int(bad.sum())} NaN or infinite values (first at row {self.n_rows + row} "
                f"of the source, column {names[column] if names else column}): impute them, or drop the rows"
            )


def _names(x: Any, source: Source) -> tuple[str, ...] | None:
    """Names of the columns, if all are text: the rule of scikit-learn."""
    names = getattr(source, "names", None) or list(getattr(x, "columns", ()))
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def _numbers(values: Any, piece: Piece, what: str) -> np.ndarray:
    """The values as an array of numbers, x of two dimensions."""
    if isinstance(values, pd.DataFrame):
        for name, kind in values.dtypes.items():
            if not pd.api.types.is_numeric_dtype(kind):
                raise ValueError(f"{piece.name}: the column {name!r} of {what} has dtype {kind}: expected numbers")
        values = values.to_numpy(np.float64, na_value=np.nan)
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{piece.name}: {what} has dtype {array.dtype}: expected numbers; encode text and dates first")
    if array.ndim != 2 and (what == "x" or array.ndim != 1):
        expected = "(rows, inputs)" if what == "x" else "(rows,) or (rows, outputs)"
        raise ValueError(f"{piece.name}: {what} has shape {array.shape}: expected {expected}")
    return array


def _number_targets(piece: Piece) -> np.ndarray:
    """y of a regression, (rows, outputs)."""
    y = _numbers(piece.y, piece, "y")
    return np.asarray(y.reshape(len(y), -1), np.float64)


def _labels(piece: Piece, n_rows: int) -> np.ndarray:
    """y of a classification, (rows,); `n_rows` have been read before."""
    y = np.asarray(piece.y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"{piece.name}: y has shape {y.shape}: expected one label for each row")
    missing = np.flatnonzero(pd.isna(y))
    if len(missing):
        raise ValueError(f"{piece.name}: row {n_rows + missing[0]} has no label: fill it, or drop the row")
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError(f"{piece.name}: y has the label {y[y != np.floor(y)][0]}: is it a regression's target?")
    return y


def _weight(piece: Piece) -> np.ndarray:
    weight = _numbers(piece.weight, piece, "weight")
    if weight.ndim != 1:
        raise ValueError(f"{piece.name}: weight has shape {weight.shape}: expected (rows,)")
    weight = np.asarray(weight, np.float64)
    if (weight < 0).any():
        raise ValueError(f"{piece.name}: weight {weight.min()} is negative")
    return weight
