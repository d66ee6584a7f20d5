"""Kinds of y, of labels, and of weights."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

from helpers.bad_kinds import LABELS, ROWS, Kind, Refused, Works, Y

DAYS = np.array("2020-01-01", "M8[D]") + np.arange(ROWS)
LETTERS = np.where(LABELS, "u", "v")
SERIES = pd.Series(Y)
DROP = "drop the"
ENCODE = "make numbers of text, categories and dates first"
ONE_EACH = "one entry for each row"
TEXT = r"make text of them: \[str\(label\)"


def same(name: str, make: Any, **more: Any) -> Kind:
    """The numbers of Y in another container or type."""
    return Kind(name, make, Works(lambda: Y, **more))


def itself(name: str, make: Any, **more: Any) -> Kind:
    """Plain values that are hard in another way."""
    return Kind(name, make, Works(lambda: np.asarray(make()), **more))


def refused(name: str, make: Any, what: str, remedy: str, error: type[Exception] = ValueError) -> Kind:
    """An error."""
    return Kind(name, make, Refused(error, what, remedy))


def entry(value: Any, dtype: Any = float, of: np.ndarray = Y) -> np.ndarray:
    """One other entry."""
    y = of.astype(dtype)
    y[3] = value
    return y


TARGETS = [
    refused("NaN", lambda: entry(np.nan), "y contains NaN", "drop these rows"),
    refused("infinity", lambda: entry(np.inf), "y contains infinity", "drop these rows"),
    refused("None among numbers", lambda: entry(None, object), r"y has 1 NaN.*row 3", DROP),
    refused("NA", lambda: SERIES.astype("Float64").mask(SERIES > 1), "NaN", "drop"),
    refused("masked array", lambda: np.ma.MaskedArray(Y, mask=Y > 1), "y is masked in 3 places", DROP),
    itself("constant", lambda: np.full(ROWS, 3.0)),
    itself("constant at 1e30", lambda: np.full(ROWS, 1e30)),
    itself("scale 1e30", lambda: 1e30 * Y),
    itself("scale 1e-310", lambda: 1e-310 * Y),
    refused("scale 1e307", lambda: 1e307 * Y, r"y has numbers as large as 2.8\d*e\+307", "use another unit"),
    itself("whole numbers beyond 2**53", lambda: 2**60 + np.arange(ROWS), warns=r"y has whole numbers beyond 2\*\*53"),
    itself("bool", lambda: Y > 0),
    itself("float16", lambda: Y.astype(np.float16)),
    same("big-endian", lambda: Y.astype(">f8")),
    same("numbers as text", lambda: Y.astype(str)),
    same("Decimals", lambda: [Decimal(float(v)) for v in Y]),
    same("series with another index", lambda: SERIES.set_axis(range(ROWS, 0, -1))),
    same("Arrow-backed series", lambda: SERIES.astype("float64[pyarrow]")),
    same("polars series", lambda: pl.Series(Y)),
    itself("column vector", lambda: Y[:, None]),
    refused("text", lambda: LETTERS, "could not convert string", ENCODE),
    refused("category", lambda: pd.Series(pd.Categorical(LETTERS)), "could not convert string", ENCODE),
    refused("complex", lambda: Y + 1j, r"Complex data not supported \(y\)", "real and imaginary parts"),
    refused("dates", lambda: DAYS, "y holds dates or times", ENCODE),
    refused("time spans", lambda: DAYS - DAYS[0], "y holds dates or times", ENCODE),
    refused("time zones", lambda: pd.Series(DAYS).dt.tz_localize("UTC"), "y holds dates or times", ENCODE),
    refused("too short", lambda: Y[:-1], r"inconsistent numbers of samples: \[24, 23\]", "one y.* for each row"),
    refused("too long", lambda: np.r_[Y, 1], r"inconsistent numbers of samples: \[24, 25\]", "one y.* for each row"),
    refused("empty", list, "0 sample", "at least one row"),
    refused("None", lambda: None, "target y is None", r"call fit\(X, y\)"),
    refused("a number", lambda: 1.0, "at least 1 dimension", ONE_EACH, TypeError),
    refused("three dimensions", lambda: Y[:, None, None], "dim 3", "reshape"),
    refused("no outputs", lambda: Y[:, None][:, :0], "0 feature", "at least one column"),
    refused("ragged", lambda: [[1.0], [1.0, 2.0]] * 12, "inhomogeneous", "rows must be equally long"),
    refused("sparse", lambda: scipy.sparse.csr_matrix(Y[:, None]), "y is sparse", "toarray", TypeError),
    refused("dict", lambda: dict(enumerate(Y)), "y is a dict", ONE_EACH, TypeError),
    refused("set", lambda: set(Y), "y is a set", ONE_EACH, TypeError),
    refused("generator", lambda: (v for v in Y), "y is a generator", ONE_EACH, TypeError),
    refused("columns of one name", lambda: pd.DataFrame(np.c_[Y, Y], columns=["y", "y"]), "several columns", "rename"),
]
CLASSES = [
    itself("two classes as floats", lambda: LABELS.astype(float)),
    itself("truth values", lambda: LABELS > 0),
    itself("negative numbers", lambda: -7 * LABELS),
    itself("numbers beyond 2**53", lambda: 2**60 + LABELS),
    itself("uint64 beyond int64", lambda: LABELS.astype(np.uint64) + np.uint64(2**63)),
    itself("Unicode text", lambda: np.where(LABELS, "größe", "模型")),
    itself("empty text", lambda: np.where(LABELS, "u", "")),
    itself("text as objects", lambda: LETTERS.astype(object)),
    Kind(
        "category with an unused one", lambda: pd.Series(pd.Categorical(LETTERS, list("uvw"))), Works(lambda: LETTERS)
    ),
    Kind("Int64", lambda: pd.Series(2**60 + LABELS).astype("Int64"), Works(lambda: 2**60 + LABELS)),
    Kind("Arrow-backed text", lambda: pd.Series(LETTERS).astype("string[pyarrow]"), Works(lambda: LETTERS)),
    Kind("polars category", lambda: pl.Series(LETTERS.tolist(), dtype=pl.Categorical), Works(lambda: LETTERS)),
    Kind("column vector", lambda: LABELS[:, None], Works(lambda: LABELS, warns="column-vector y.*ravel")),
    refused("fractions", lambda: LABELS + 0.5, "Unknown label type: continuous", "TDAMPRegressor, or give labels"),
    refused("a regression's y", lambda: Y, "Unknown label type: continuous", "TDAMPRegressor, or give labels"),
    refused("one class", lambda: np.zeros(ROWS, int), r"only one class, \[0\]", "needs at least two classes"),
    refused("NaN", lambda: np.where(LABELS, 1.0, np.nan), "12 labels that are missing", "drop these rows"),
    refused(
        "infinity", lambda: np.where(LABELS, 1.0, np.inf), "12 labels that are missing, NaN or inf", "drop these rows"
    ),
    refused("None", lambda: entry(None, object, LETTERS), "1 labels.*row 3", "class of their own"),
    refused("NaN among text", lambda: entry(np.nan, object, LETTERS), "1 labels.*row 3", "class of their own"),
    refused(
        "NA among text", lambda: pd.Series(LETTERS).astype("string").mask(SERIES > 1), "3 labels", "drop these rows"
    ),
    refused(
        "NA among Int64", lambda: pd.Series(LABELS).astype("Int64").mask(SERIES > 1), "3 labels", "drop these rows"
    ),
    refused("text and numbers", lambda: entry(1, object, LETTERS), "mixes text and other labels", TEXT),
    refused("list of text and numbers", lambda: ["a", 1] * 12, "mixes text and other labels", TEXT),
    refused("truth values and numbers", lambda: entry(True, object, LABELS), "Unknown label type", "all of one type"),
    refused("masked labels", lambda: np.ma.MaskedArray(LABELS, mask=Y > 1), "y is masked in 3", DROP),
    refused("bytes", lambda: np.where(LABELS, b"u", b"v"), "bytes is not supported", "to a string", TypeError),
    refused("dates", lambda: DAYS, "y holds dates or times", TEXT),
    refused("tuples", lambda: [(1, 2), (3, 4)] * 12, "1d array", "one label for each row"),
    refused("several labels for a row", lambda: np.c_[LABELS, LABELS], "1d array", "one label for each row"),
    refused("too short", lambda: LABELS[:-1], r"inconsistent numbers of samples: \[24, 23\]", "one y.* for each row"),
    refused("set", lambda: {0, 1}, "y is a set", ONE_EACH, TypeError),
]
ONES = np.ones(ROWS)
HOW = "give each row a finite weight of at least 0, not all zero"
WEIGHTS = [
    Kind("zeros", lambda: (Y > 0).astype(float), Works(lambda: Y > 0)),
    Kind("a scalar", lambda: 2.0, Works(lambda: 2 * ONES)),
    Kind("int8", lambda: np.full(ROWS, 100, np.int8), Works(lambda: 100 * ONES, "mean of 100")),
    Kind("numbers as text", lambda: np.full(ROWS, "1"), Works(lambda: ONES)),
    Kind("series", lambda: pd.Series(ONES, index=range(ROWS, 0, -1)), Works(lambda: ONES)),
    Kind(
        "one row left",
        lambda: np.r_[1.0, np.zeros(ROWS - 1)],
        Works(lambda: np.eye(ROWS)[0], "X has one row.*more rows"),
    ),
    refused("all zero", lambda: 0 * ONES, "at least one non-zero", HOW),
    refused("negative", lambda: np.r_[-1.0, ONES[1:]], "Negative values", HOW),
    refused("NaN", lambda: np.r_[np.nan, ONES[1:]], "sample_weight contains NaN", HOW),
    refused("infinite", lambda: np.r_[np.inf, ONES[1:]], "sample_weight contains infinity", HOW),
    refused("NA", lambda: pd.Series(ONES).astype("Float64").mask(SERIES > 1), "sample_weight contains NaN", HOW),
    refused("too short", lambda: ONES[1:], r"\(23,\), expected \(24,\)", HOW),
    refused("two dimensions", lambda: ONES[:, None], "1D array or scalar", HOW),
    refused("1e300", lambda: np.r_[1e300, ONES[1:]], r"sample_weight is 1e\+300", "divide the weights by their mean"),
    refused("beyond int64", lambda: 1e19 * ONES, r"sample_weight is 1e\+19", "divide the weights by their mean"),
    refused("1e-300", lambda: 1e-300 * ONES, "sample_weight is 1e-300", "divide the weights by their mean"),
    refused("text", lambda: np.full(ROWS, "heavy"), "could not convert string", ENCODE),
    refused("masked", lambda: np.ma.MaskedArray(ONES, mask=Y > 1), "sample_weight is masked", DROP),
    refused("dates", lambda: DAYS, "sample_weight holds dates", ENCODE),
    refused("dict", lambda: {0: 1.0}, "sample_weight is a dict", ONE_EACH, TypeError),
]
