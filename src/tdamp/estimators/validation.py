"""The user's tables, targets and weights: numbers, or an error that says what was wrong and what to do.

scikit-learn does the checking. What is added here: kinds of data that would be taken for something else without a word
(masked cells, dates, numbered columns out of order), the place of the first bad cell, and remedies.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..training.data import check_finite
from ..training.outcome import TrainingWarning, users_level
from .error_hints import LABELS, NUMBERS, ROWS, TABLE, with_hint
from .images import as_table

LARGEST = 1e300
"""Largest number in X or y: sums and differences of larger ones overflow."""
LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e9
"""Bound of the largest sample weight: a weight counts as copies of its row, and float32 has no room for more."""
LEAST_MEAN, MOST_MEAN = 0.1, 30.0
"""Bounds of the mean weight: beyond them it is a mistake, most likely. Weights that sum to one make one row of all;
those that say how many people a row stands for make it as many observations."""
EXACT = 2**53
"""Whole numbers beyond it are rounded in float64."""
TIMES = ("date", "time", "duration", "period")
"""How the names of the types of dates, times and time spans begin: in NumPy, pandas, polars and Arrow."""
FILL = "impute or drop them (tdamp.tables.Encoder fills missing cells)"


@contextmanager
def hints() -> Iterator[None]:
    """Errors of scikit-learn, NumPy and the makers of frames are raised with what to do about them."""
    try:
        with np.errstate(all="ignore"):  # numbers too large for float64 become infinite, and are refused as that
            yield
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise with_hint(error) from error


def checked(estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[np.ndarray, ...]:
    """X, y and weights of a fit; y as numbers for a regression, else as labels of one type."""
    numeric = estimator._task == "regression"
    of_tables = estimator.layers is None and estimator.input_shape is None and not hasattr(estimator, "input_shape_")
    X, whole = _table("X", X if of_tables else as_table(estimator, X, reset))
    y, whole_y = _table("y", y) if numeric else (labels(y), [])
    with hints():
        X, y = validate_data(
            estimator, X, y, dtype=(np.float64, np.float32), reset=reset, multi_output=numeric, y_numeric=numeric,
            ensure_all_finite=False,
        )  # fmt: skip
        if not numeric:
            check_classification_targets(y)
    _check_numbers("X", X, FILL, whole, getattr(estimator, "feature_names_in_", None))
    if numeric:
        with hints():
            y = np.asarray(y, np.float64)
        _check_numbers("y", y.reshape(len(y), -1), "drop their rows", whole_y)
    weight = weights(sample_weight, X)
    check_weights(weight.max(), weight.sum(), int((weight > 0).sum()))
    return X, y, weight


def check_weights(largest: float, total: float, n_rows: int) -> None:
    """Raise ValueError where the largest weight is beyond float32, warn where rows count as hardly any or as many."""
    if not LEAST_WEIGHT <= largest <= MOST_WEIGHT:
        raise ValueError(
            f"sample_weight is {largest:g} at most, and a weight counts as so many copies of its row: expected "
            f"{LEAST_WEIGHT:g} to {MOST_WEIGHT:g} for the largest; divide the weights by their mean"
        )
    if not LEAST_MEAN <= total / n_rows <= MOST_MEAN or largest < 0.5:
        little = "little is learned from them" if total < n_rows else "they are taken for more than they can tell"
        warnings.warn(
            f"sample_weight has a mean of {total / n_rows:g}, and a weight counts as so many copies of its row, so "
            f"that the {n_rows} rows count as {total:g}: {little}. "
            "Use weights whose mean is one, sample_weight / sample_weight.mean(), if every row is an observation.",
            TrainingWarning,
            stacklevel=users_level(),
        )


def new_rows(estimator: Any, X: Any) -> np.ndarray:
    """Rows to predict: X with the columns of the fit."""
    X, whole = _table("X", as_table(estimator, X, reset=False))
    with hints():
        X = validate_data(estimator, X, dtype=(np.float64, np.float32), reset=False, ensure_all_finite=False)
    _check_numbers("X", X, FILL, whole, getattr(estimator, "feature_names_in_", None))
    return X


def observed(y: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers to compare predictions of this shape with."""
    y = _plain("y", y)
    with hints():
        y = np.asarray(y, np.float64)
    if y.shape not in (shape, (*shape, 1)):
        raise ValueError(f"y has shape {y.shape}: expected {shape}, a number for each prediction")
    y = y.reshape(shape)
    check_finite("y", y.reshape(len(y), -1), "drop their rows")
    return y


def labels(y: Any, name: str = "y") -> Any:
    """A classifier's y, or its classes: none missing, all text or none."""
    y = _plain(name, y, LABELS)
    with hints():
        each = np.asarray(y, object) if isinstance(y, list | tuple) else np.asarray(y)
    missing = ~np.isfinite(each) if each.dtype.kind == "f" else np.asarray(pd.isna(each))
    if each.ndim and missing.any():
        raise ValueError(
            f"{name} has {int(missing.sum())} labels that are missing, NaN or infinite (the first at row "
            f"{int(np.argwhere(missing)[0, 0])}): drop these rows, or give them a class of their own"
        )
    if each.dtype == object and each.ndim == 1 and len({isinstance(label, str) for label in each}) > 1:
        raise ValueError(f"{name} mixes text and other labels: {LABELS}")
    own = getattr(getattr(y, "dtype", None), "numpy_dtype", None)  # pandas' integers would become floats
    return y.to_numpy(own) if isinstance(own, np.dtype) and own.kind in "iub" else y


def weights(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """A weight for each row, in float64."""
    plain = _plain("sample_weight", sample_weight)
    with hints():
        return _check_sample_weight(plain, X, dtype=np.float64, ensure_non_negative=True)


def _table(name: str, values: Any) -> tuple[Any, list[int] | slice]:
    """Values without what would be misread, and the places of their columns of large whole numbers."""
    values = _plain(name, values)
    if not hasattr(values, "columns"):
        return values, slice(None) if _is_whole(getattr(values, "dtype", "")) else []
    _check_names(name, values.columns, names := list(getattr(values, "column_names", values.columns)))
    dtypes = values.schema.types if hasattr(getattr(values, "schema", None), "types") else list(values.dtypes)
    for column, dtype in zip(names, dtypes, strict=True):
        if str(dtype).lower().startswith(TIMES):
            raise ValueError(f"{name} has dates or times in the column {column!r} ({dtype}): {NUMBERS}")
        if str(dtype).startswith("Sparse"):
            raise TypeError(f"{name} has a sparse column {column!r}: make it dense with {name}.sparse.to_dense()")
    return values, [place for place, dtype in enumerate(dtypes) if _is_whole(dtype)]


def _check_names(name: str, columns: Any, names: list[Any]) -> None:
    if getattr(columns, "nlevels", 1) > 1:
        raise ValueError(
            f"{name} has column names of several levels: join them first, "
            f"{name}.columns = ['_'.join(map(str, c)) for c in {name}.columns]"
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{name} has several columns of the name {twice[0]!r}: rename or drop them")
    if set(names) == set(in_order := list(range(len(names)))) and names != in_order:
        raise ValueError(
            f"{name} has columns numbered {names[:8]}, out of order, but only text is kept as a name: sort the columns "
            f"({name}[sorted({name})]), or name them by text"
        )


def _plain(name: str, values: Any, dates: str = NUMBERS) -> Any:
    """Values that are no file name and no stream, are not dates, and whose mask hides nothing."""
    if hasattr(values, "toarray"):
        raise TypeError(f"{name} is sparse, but dense data are needed: {name}.toarray() makes them")
    if hasattr(values, "collect"):
        raise TypeError(f"{name} is a {type(values).__name__}: call its method collect() first")
    odd = isinstance(values, str | bytes | Mapping | Set | Iterator)
    if odd or (values is None and name == "X"):
        raise TypeError(f"{name} is a {type(values).__name__}: {TABLE if name == 'X' else ROWS}")
    parts = values if isinstance(values, list | tuple) else [values]
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in parts if isinstance(part, np.ma.MaskedArray))
    if masked:
        raise ValueError(
            f"{name} is masked in {masked} places, and what lies under a mask is no data: fill them in "
            "(values.filled(...)), or drop their rows"
        )
    kind = str(getattr(values, "dtype", "")).lower()
    if kind.startswith(TIMES):
        raise ValueError(f"{name} holds dates or times ({kind}): {dates}")
    if kind.startswith("complex"):
        raise ValueError(f"Complex data not supported ({name}): give real and imaginary parts as numbers of their own")
    return values.data if isinstance(values, np.ma.MaskedArray) else values


def _is_whole(dtype: Any) -> bool:
    return re.match(r"u?int64", str(dtype).lower()) is not None


def _check_numbers(
    name: str, values: np.ndarray, remedy: str, whole: list[int] | slice, columns: np.ndarray | None = None
) -> None:
    largest = max(float(values.max()), -float(values.min()))
    if not np.isfinite(largest):
        check_finite(name, values, remedy, columns)
    if largest > LARGEST:
        raise ValueError(f"{name} has numbers as large as {largest:g}, above {LARGEST:g}: use another unit")
    if largest > EXACT and np.abs(values[:, whole]).max(initial=0) > EXACT:
        warnings.warn(
            f"{name} has whole numbers beyond 2**53, which are rounded, so that neighbours may become equal. "
            "Use their differences from the least one, or leave the column out if it only names the rows.",
            TrainingWarning,
            stacklevel=users_level(),
        )


def check_predicted(values: np.ndarray, proper: np.ndarray | bool = True) -> None:
    """Raise ValueError for predictions beyond float32: of a network with huge weights, from a file that was changed."""
    if not (np.isfinite(values) & proper).all():
        raise ValueError("a prediction is not finite: the network has weights that are too large; fit the model again")
