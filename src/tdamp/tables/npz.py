"""NPZ files: the arrays `x` (or `X`) and `y`, or one array for each column; nothing in them is ever run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .errors import TableError, listing

if TYPE_CHECKING:
    import pandas as pd


def read_npz(path: Path) -> pd.DataFrame:
    """Columns x0, x1, ... of a matrix x; y, or y0, y1, ...; a vector keeps its name."""
    import pandas as pd

    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise TableError("holds a single array without a name: save it with numpy.savez(path, x=..., y=...)")
            arrays = {name: _array(file, name) for name in file.files}
    except (TableError, OSError):
        raise
    except Exception as error:  # whatever a damaged file makes zipfile and NumPy say
        raise TableError(f"not an NPZ file that can be read ({error}): write it again with numpy.savez") from error
    if not arrays:
        raise TableError("holds no arrays")
    columns: list[tuple[str, np.ndarray]] = []
    for name, array in arrays.items():
        columns += _columns(name, array)
    lengths = {name: len(column) for name, column in columns}
    if len(set(lengths.values())) > 1:
        raise TableError(f"arrays differ in length: {', '.join(f'{name} {n}' for name, n in lengths.items())}")
    if len(lengths) < len(columns):
        raise TableError(f"arrays would give columns of the same name: it holds {listing(arrays)}")
    return pd.DataFrame(dict(columns))


def _array(file: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    try:
        array = file[name]
    except ValueError as error:
        raise TableError(
            f"the array {name!r} holds Python objects, which are not loaded because loading can run code: "
            "save it as numbers or text"
        ) from error
    if array.dtype.kind not in "biufUSM":
        raise TableError(f"the array {name!r} has dtype {array.dtype}: expected numbers, text or dates")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "latin-1")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _columns(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    if array.ndim == 1:
        return [(name.lower() if name in ("X", "Y") else name, array)]
    if array.ndim != 2 or name not in ("x", "X", "y", "Y"):
        allowed = "(rows,) or (rows, columns)" if name in ("x", "X", "y", "Y") else "(rows,)"
        raise TableError(f"the array {name!r} has shape {array.shape}: expected {allowed}")
    name = name.lower()
    if name == "y" and array.shape[1] == 1:
        return [(name, array[:, 0])]
    return [(f"{name}{position}", array[:, position]) for position in range(array.shape[1])]
