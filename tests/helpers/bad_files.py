"""Kinds of tables in files, as `tdamp fit` meets them."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from helpers.bad_kinds import ROWS, Kind, Refused, Works, X, Y
from tdamp.cli.main import main

FRAME = pd.DataFrame(X, columns=list("abc")).assign(y=Y)
SMALL = ["--hidden", "4", "--epochs", "2", "--batch-size", "8", "--test-fraction", "0"]


def csv(**columns: Any) -> Any:
    """A CSV file of the frame with other columns."""
    return lambda folder: _written(folder / "t.csv", FRAME.assign(**columns).to_csv(index=False).encode())


def npz(**arrays: Any) -> Any:
    """An NPZ file."""

    def make(folder: Path) -> Path:
        np.savez(folder / "t.npz", **{"x": X, "y": Y, **arrays})
        return folder / "t.npz"

    return make


def parquet(column: Any) -> Any:
    """A Parquet file with this column."""

    def make(folder: Path) -> Path:
        pyarrow.parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "l": column, "y": Y}), folder / "t.parquet")
        return folder / "t.parquet"

    return make


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def refused(name: str, make: Any, what: str, remedy: str) -> Kind:
    """One line on standard error, and no model."""
    return Kind(name, make, Refused(SystemExit, what, remedy))


def works(name: str, make: Any, says: str = "regression of y on 3 columns") -> Kind:
    """A model, and these words about the table."""
    return Kind(name, make, Works(lambda: None, says))


BIG = 10**18 + np.arange(ROWS)
FILES = [
    refused(
        "infinite cell", csv(a=np.where(X[:, 0] > 1, np.inf, 1.0)), "column a, line .*infinite", "correct the cell"
    ),
    refused("cell of 1e400", csv(a="1e400"), "column a, line 2.*too large", "correct the cell"),
    refused("column at 1e307", csv(a=1e307 * X[:, 0]), r"X has numbers as large as 2.\d*e\+307", "use another unit"),
    refused("target at 1e307", csv(y=1e307 * Y), r"y has numbers as large as 2.\d*e\+307", "use another unit"),
    refused(
        "target of dates", csv(y=pd.date_range("2020", periods=ROWS)), "dates cannot be predicted", "number of days"
    ),
    refused("no column left", csv(a=1, b=1, c=1), "No column is left", "every cell is 1; left out"),
    works("a column of text and numbers", csv(a=["1", "red"] * 12)),
    works("a column at 1e30", csv(a=1e30 * X[:, 0])),
    works("numbers beyond 2**53", csv(a=BIG), r"Column a: every cell is 1e\+18; left out"),
    works("dates with and without zone", csv(a=["2020-01-01T00:00Z", "2020-01-02"] * 12), "without a time zone.*UTC"),
    works("big-endian arrays", npz(x=X.astype(">f8"), y=Y.astype(">f4"))),
    works("missing cells of an array", npz(x=np.where(X > 1, np.nan, X)), "cells are missing, filled with the median"),
    refused("array of complex numbers", npz(x=X + 1j), "dtype complex128", "expected numbers, text or dates"),
    refused("array of objects", npz(x=X.astype(object)), "holds Python objects", "save it as numbers or text"),
    refused("array of three dimensions", npz(x=X[:, :, None]), r"shape \(24, 3, 1\)", r"expected \(rows,\)"),
    refused("array of records", npz(x=np.zeros(ROWS, [("a", float)])), "has dtype", "expected numbers, text or dates"),
    refused("array of time spans", npz(d=BIG.astype("m8[ns]")), "timedelta64", "expected numbers, text or dates"),
    refused(
        "lists in Parquet", parquet([[1, 2]] * ROWS), "column l, row 0: a cell of type", "convert the column or drop"
    ),
    refused("structs in Parquet", parquet([{"q": 1}] * ROWS), "a cell of type dict", "convert the column or drop it"),
    refused("bytes in Parquet", parquet([b"x"] * ROWS), "a cell of type bytes", "convert the column or drop it"),
    works("categories in Parquet", parquet(pa.array(["u", "v"] * 12).dictionary_encode())),
    works(
        "time zones in Parquet", parquet(pa.array(pd.date_range("2020", periods=ROWS, tz="Asia/Tokyo"))), "since.*UTC"
    ),
]


def check_file(kind: Kind, folder: Path) -> None:
    """`tdamp fit` ends as it should: 0 and a model, or 1, a line, and none."""
    path = kind.make(folder)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["fit", str(path), "--target", "y", "--out", str(folder / "model"), *SMALL])
    result = out.getvalue() + err.getvalue()
    if isinstance(kind.outcome, Works):
        assert code == 0 and (folder / "model").is_dir(), result
        assert re.search(kind.outcome.warns, result), result
        return
    last = err.getvalue().strip().splitlines()[-1]
    assert code == 1 and not (folder / "model").exists(), result
    assert last.startswith(f"tdamp: {path}: "), result
    assert re.search(kind.outcome.what, last) and re.search(kind.outcome.remedy, last), result
