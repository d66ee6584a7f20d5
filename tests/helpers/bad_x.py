"""Kinds of X."""

from __future__ import annotations

import datetime
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
import torch

from helpers.bad_kinds import ROWS, Kind, Refused, Works, X

NAMES = list("abc")
FRAME = pd.DataFrame(X, columns=NAMES)
WHOLE = np.rint(30 * X)
DAYS = np.array("2020-01-01", "M8[D]") + np.arange(3 * ROWS).reshape(ROWS, 3)
FILL = "impute or drop"
ENCODE = "make numbers of text, categories and dates first"
TABLE = "give numbers in rows and columns"


def cell(value: Any, dtype: Any = float) -> np.ndarray:
    """X with one other cell."""
    x = X.astype(dtype)
    x[4, 1] = value
    return x


def in_frame(column: Any) -> pd.DataFrame:
    """A frame whose second column is this."""
    return FRAME.assign(b=column)


def nullable(dtype: str, values: np.ndarray, missing: bool) -> pd.DataFrame:
    """In pandas' own types, with a missing cell or without."""
    frame = pd.DataFrame(values, columns=NAMES).astype(dtype)
    if missing:
        frame.iloc[4, 1] = pd.NA
    return frame


def on_disk() -> np.ndarray:
    """A memory map that must not be written to."""
    path = Path(tempfile.mkdtemp()) / "x.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def structured() -> np.ndarray:
    """Rows as records."""
    return np.array(list(map(tuple, X)), dtype=[(name, float) for name in NAMES])


def plain() -> np.ndarray:
    """The numbers that most kinds stand for."""
    return X


def same(name: str, make: Any, **more: Any) -> Kind:
    """The numbers of X in another container or type."""
    return Kind(name, make, Works(plain, **more))


def itself(name: str, make: Any, **more: Any) -> Kind:
    """Plain numbers that are hard in another way."""
    return Kind(name, make, Works(lambda: np.asarray(make(), np.float64), **more))


def refused(name: str, make: Any, what: str, remedy: str, error: type[Exception] = ValueError) -> Kind:
    """An error."""
    return Kind(name, make, Refused(error, what, remedy))


NUMBERS = [
    refused("NaN", lambda: cell(np.nan), r"1 NaN or infinite values \(first at row 4, column 1\)", FILL),
    refused("infinity", lambda: cell(np.inf), r"first at row 4, column 1\)", FILL),
    refused("minus infinity", lambda: cell(-np.inf), r"first at row 4, column 1\)", FILL),
    refused("NaN in a named column", lambda: in_frame(cell(np.nan)[:, 1]), "row 4, column 'b'", FILL),
    itself("constant column", lambda: np.c_[X[:, :2], np.ones(ROWS)]),
    itself("huge constant column", lambda: np.c_[X[:, :2], np.full(ROWS, 1e30)]),
    itself("all columns constant", lambda: np.ones((ROWS, 3))),
    itself("column twice", lambda: np.c_[X[:, :2], X[:, 0]]),
    itself("equal rows, different y", lambda: np.tile(X[:1], (ROWS, 1))),
    itself("negative zero", lambda: np.where(X > 0, -0.0, X)),
    same("scale 1e30", lambda: 1e30 * X),
    same("scale 1e200", lambda: 1e200 * X),
    refused("scale 1e307", lambda: 1e307 * X, r"as large as 2.3\d*e\+307", "use another unit"),
    refused(
        "largest float", lambda: np.sign(X) * np.finfo(float).max, r"as large as 1.79769e\+308", "use another unit"
    ),
    same("scale 1e-30", lambda: 1e-30 * X),
    same("1e30 beside 1e-30", lambda: X * [1e30, 1.0, 1e-30]),
    same("subnormal", lambda: 1e-310 * X),
    same("offset 1e9", lambda: X + 1e9, rtol=1e-2),
    itself("nearly constant at 1e30", lambda: 1e30 * (1 + 1e-12 * X)),
    itself("int8 at its ends", lambda: np.where(X > 0, 127, -128).astype(np.int8)),
    itself("uint8 at its ends", lambda: np.where(X > 0, 255, 0).astype(np.uint8)),
    itself(
        "int64 at its ends",
        lambda: np.where(X > 0, 2**63 - 1, -(2**63)),
        warns=r"beyond 2\*\*53.*Use their differences",
    ),
    itself(
        "whole numbers beyond 2**53", lambda: 2**60 + WHOLE.astype(int), warns=r"X has whole numbers beyond 2\*\*53"
    ),
    itself("Python's integers beyond int64", lambda: WHOLE.astype(int).astype(object) * 10**30),
    refused("integers beyond floats", lambda: WHOLE.astype(int).astype(object) * 10**400, "too large", "another unit"),
    itself("bool", lambda: X > 0),
    itself("float16", lambda: X.astype(np.float16)),
    refused("float16 that overflowed", lambda: cell(np.inf, np.float16), "NaN or infinite", FILL),
    itself("float32", lambda: X.astype(np.float32)),
    same("longdouble", lambda: X.astype(np.longdouble)),
    refused("longdouble beyond float64", lambda: np.longdouble("1e400") * X, "72 NaN or infinite", FILL),
    same("big-endian float64", lambda: X.astype(">f8")),
    itself("big-endian int32", lambda: WHOLE.astype(">i4")),
    refused(
        "complex", lambda: X + 1j, "Complex data not supported", "real and imaginary parts as numbers of their own"
    ),
]
OBJECTS = [
    same("numbers as text", lambda: X.astype(str)),
    refused("text", lambda: np.full((ROWS, 3), "red"), "could not convert string.*red", ENCODE),
    same("objects that are floats", lambda: X.astype(object)),
    refused("one word among numbers", lambda: cell("red", object), "could not convert string.*red", ENCODE),
    refused("None among numbers", lambda: cell(None, object), "1 NaN or infinite.*row 4, column 1", FILL),
    refused("a list in a cell", lambda: cell([1, 2], object), "with a sequence", "cells single numbers"),
    refused("a dict in a cell", lambda: cell({}, object), "not 'dict'", ENCODE, TypeError),
    same("Decimals", lambda: np.array([[Decimal(float(v)) for v in row] for row in X], object)),
    refused("Decimal NaN", lambda: cell(Decimal("NaN"), object), "row 4, column 1", FILL),
    refused("datetime64", lambda: DAYS, "X holds dates or times", ENCODE),
    refused("timedelta64", lambda: DAYS - DAYS[0], "X holds dates or times", ENCODE),
]
SHAPES = [
    refused("no columns", lambda: X[:, :0], "0 feature", "at least one column"),
    refused("no rows", lambda: X[:0], "0 sample", "at least one row"),
    refused("empty list", list, "Expected 2D array", "Reshape your data"),
    refused("one dimension", lambda: X[:, 0], "Expected 2D array, got 1D", "Reshape your data"),
    refused("three dimensions", lambda: X[:, :, None], "dim 3", r"reshape\(len\(a\), -1\)"),
    refused("a number", lambda: 3.0, "scalar array", "Reshape your data"),
    refused("ragged lists", lambda: [[1, 2, 3], [1, 2]] * 12, "inhomogeneous", "rows must be equally long"),
    same("lists", X.tolist),
    same("tuples", lambda: tuple(map(tuple, X))),
    refused("None", lambda: None, "X is a NoneType", TABLE, TypeError),
    refused("a file name", lambda: "table.csv", "X is a str", TABLE, TypeError),
    refused("bytes", lambda: b"1,2,3", "X is a bytes", TABLE, TypeError),
    refused("dict", lambda: {"a": X[:, 0]}, "X is a dict", TABLE, TypeError),
    refused("set", lambda: {1.0, 2.0}, "X is a set", TABLE, TypeError),
    refused("generator", lambda: (row for row in X), "X is a generator", TABLE, TypeError),
    refused("list of dicts", lambda: [{"a": 1.0}] * ROWS, "not 'dict'", ENCODE, TypeError),
    refused("structured array", structured, "Cannot cast", "structured_to_unstructured", TypeError),
]
CONTAINERS = [
    same("mask that hides nothing", lambda: np.ma.MaskedArray(X, mask=np.zeros(X.shape, bool))),
    refused(
        "masked array", lambda: np.ma.MaskedArray(X, mask=X > 1), f"masked in {(X > 1).sum()} places", "fill them in"
    ),
    refused("list of masked rows", lambda: [np.ma.MaskedArray(r, mask=r > 1) for r in X], "masked in", "fill them in"),
    refused("np.matrix", lambda: X.view(np.matrix), "matrix is not supported", "np.asarray", TypeError),
    same("read-only memory map", on_disk),
    same("negative strides", lambda: X[::-1, ::-1].copy()[::-1, ::-1]),
    same("every other column of a wider array", lambda: np.repeat(X, 2, 1)[:, ::2]),
    same("Fortran order", lambda: np.asfortranarray(X)),
    refused("scipy CSR matrix", lambda: scipy.sparse.csr_matrix(X), "X is sparse", "toarray", TypeError),
    refused("scipy DOK array", lambda: scipy.sparse.dok_array(X), "X is sparse", "toarray", TypeError),
    same("JAX array", lambda: jnp.asarray(X)),
    same("torch tensor", lambda: torch.tensor(X)),
    refused(
        "torch tensor with gradients", lambda: torch.tensor(X, requires_grad=True), "requires grad", "detach", TypeError
    ),
]
FRAMES = [
    same("pandas frame", lambda: FRAME),
    refused("empty frame", pd.DataFrame, "at least one array", "at least one column"),
    refused("series", lambda: FRAME["a"], "Series", "Pass a DataFrame"),
    same("frame of big-endian numbers", lambda: pd.DataFrame(X.astype(">f8"))),
    same("Float64", lambda: nullable("Float64", X, False)),
    refused("Float64 with NA", lambda: nullable("Float64", X, True), "row 4, column 'b'", FILL),
    itself("Int64", lambda: nullable("Int64", WHOLE, False)),
    refused("Int64 with NA", lambda: nullable("Int64", WHOLE, True), "row 4, column 'b'", FILL),
    itself("boolean", lambda: nullable("boolean", X > 0, False)),
    refused("boolean with NA", lambda: nullable("boolean", X > 0, True), "row 4, column 'b'", FILL),
    same("Arrow-backed frame", lambda: FRAME.astype("float64[pyarrow]")),
    refused("Arrow-backed with NA", lambda: nullable("float64[pyarrow]", X, True), "row 4, column 'b'", FILL),
    refused("Arrow-backed text", lambda: in_frame(pd.array(["x"] * ROWS, "string[pyarrow]")), "'x'", ENCODE),
    Kind(
        "category of numbers",
        lambda: in_frame(pd.Categorical(WHOLE[:, 1])),
        Works(lambda: np.c_[X[:, 0], WHOLE[:, 1], X[:, 2]]),
    ),
    refused("category of text", lambda: in_frame(pd.Categorical(["u", "v"] * 12)), "could not convert string", ENCODE),
    refused("dates in a column", lambda: in_frame(DAYS[:, 1]), "dates or times in the column 'b'", ENCODE),
    refused("nothing but dates", lambda: pd.DataFrame(DAYS, columns=NAMES), "dates or times in the column 'a'", ENCODE),
    refused("time zones", lambda: in_frame(pd.Series(DAYS[:, 1]).dt.tz_localize("UTC")), "column 'b'.*UTC", ENCODE),
    refused("time spans", lambda: in_frame(DAYS[:, 1] - DAYS[0, 0]), "times in the column 'b'", ENCODE),
    refused("periods", lambda: in_frame(pd.period_range("2020", periods=ROWS)), "times in the column 'b'", ENCODE),
    refused(
        "sparse columns", lambda: FRAME.astype(pd.SparseDtype(float, 0.0)), "sparse column 'a'", "to_dense", TypeError
    ),
    refused(
        "duplicate names", lambda: FRAME.set_axis(["a", "a", "b"], axis=1), "several columns.*'a'", "rename or drop"
    ),
    same("Unicode names", lambda: FRAME.set_axis(["größe", "模型", "😀"], axis=1)),
    same("an empty name", lambda: FRAME.set_axis(["", "a", "b"], axis=1)),
    same("numbered columns", lambda: pd.DataFrame(X)),
    refused("numbered columns out of order", lambda: pd.DataFrame(X)[[2, 0, 1]], "out of order", "sort the columns"),
    refused(
        "names of text and number", lambda: FRAME.set_axis(["a", 1, 2], axis=1), "string names", "astype", TypeError
    ),
    refused(
        "names of several levels",
        lambda: FRAME.set_axis(pd.MultiIndex.from_product([["q"], NAMES]), axis=1),
        "several levels",
        "join them first",
    ),
    same("index out of order", lambda: FRAME.set_axis(range(ROWS, 0, -1), axis=0)),
    same("polars frame", lambda: pl.DataFrame(X, schema=NAMES)),
    refused(
        "polars with null", lambda: pl.DataFrame({"a": [None, *X[1:, 0]], "b": X[:, 1]}), "row 0, column 'a'", FILL
    ),
    refused("polars text", lambda: pl.DataFrame({"a": ["x"] * ROWS, "b": X[:, 1]}), "'x'", ENCODE),
    refused(
        "polars dates", lambda: pl.DataFrame({"a": [datetime.date(2020, 1, 1)] * ROWS}), "column 'a'.*Date", ENCODE
    ),
    refused("polars lazy frame", lambda: pl.DataFrame(X).lazy(), "X is a LazyFrame", r"collect\(\) first", TypeError),
    same("Arrow table", lambda: pa.table(dict(zip(NAMES, X.T, strict=True)))),
    refused("Arrow dates", lambda: pa.table({"a": pa.array(DAYS[:, 0])}), "dates or times in the column 'a'", ENCODE),
]
KINDS = [*NUMBERS, *OBJECTS, *SHAPES, *CONTAINERS, *FRAMES]
