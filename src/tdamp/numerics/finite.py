"""Tables of finite numbers, or an error that says where they are not."""

from __future__ import annotations

import numpy as np


def check_finite(
    name: str, values: np.ndarray, remedy: str = "impute or drop them", columns: np.ndarray | None = None
) -> None:
    """Raise ValueError that says where the first value of a table is NaN or infinite; `columns` are their names."""
    if values.dtype.kind != "f":
        return
    step = max(1, 2**18 // max(1, values.shape[1]))  # a memory map is looked at piece by piece
    for start in range(0, len(values), step):
        bad = ~np.isfinite(values[start : start + step])
        if bad.any():
            row, column = np.argwhere(bad)[0]
            where = column if columns is None else repr(columns[column])
            raise ValueError(
                f"{name} has {int(bad.sum())} NaN or infinite values (first at row {start + row}, column {where}): "
                f"{remedy}"
            )
