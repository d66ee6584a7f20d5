"""Kinds of calls: rows to predict, levels, scores, streams, and parameters."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from sklearn.exceptions import NotFittedError

from helpers.bad_kinds import LABELS, ROWS, Kind, Refused, Works, X, Y, classifier, regressor

NAMES = list("abc")
FRAME = pd.DataFrame(X, columns=NAMES)
FILL = "impute or drop"
SELECT = "select the columns of the fit"
UNIT = "check its unit"


@cache
def plain() -> Any:
    """Fitted to an array."""
    return regressor().fit(X, Y)


@cache
def named() -> Any:
    """Fitted to a frame."""
    return regressor().fit(FRAME, Y)


@cache
def classes() -> Any:
    """Of two classes."""
    return classifier().fit(X, LABELS)


def refused(name: str, call: Any, what: str, remedy: str, error: type[Exception] = ValueError) -> Kind:
    """A call that ends in an error."""
    return Kind(name, call, Refused(error, what, remedy))


def works(name: str, call: Any, twin: Any, **more: Any) -> Kind:
    """A call that gives what another one gives."""
    return Kind(name, call, Works(twin, **more))


PREDICT = [
    refused("before fit", lambda: regressor().predict(X), "not fitted yet", "call fit first", NotFittedError),
    refused("classes before fit", lambda: classifier().predict_proba(X), "not fitted yet", "call fit", NotFittedError),
    refused(
        "fewer columns", lambda: plain().predict(X[:, :2]), "X has 2 features.*expecting 3", "columns of the first fit"
    ),
    refused("more columns", lambda: plain().predict(np.c_[X, X]), "X has 6 features", "columns of the first fit"),
    refused("one dimension", lambda: plain().predict(X[0]), "got 1D array", "Reshape your data"),
    refused("no rows", lambda: plain().predict(X[:0]), "0 sample", "at least one row"),
    works("one row", lambda: plain().predict(X[:1]), lambda: plain().predict(X)[:1]),
    refused("NaN", lambda: plain().predict(np.where(X > 1, np.nan, X)), "NaN or infinite", FILL),
    refused("masked", lambda: plain().predict(np.ma.MaskedArray(X, mask=X > 1)), "masked in 13 places", "fill them in"),
    refused("None", lambda: plain().predict(None), "X is a NoneType", "give numbers", TypeError),
    refused("sparse", lambda: plain().predict(scipy.sparse.csr_array(X)), "X is sparse", "toarray", TypeError),
    refused("complex", lambda: plain().predict(X + 1j), "Complex data", "real and imaginary parts"),
    refused("1e30 times too far", lambda: plain().predict(1e30 * X), r"above 1e\+12", UNIT),
    refused("1e299 times too far", lambda: plain().predict(1e299 * X), r"X has .*e\+298 \(column 0\)", UNIT),
    refused("classes too far", lambda: classes().predict_proba(1e30 * X), r"above 1e\+12", UNIT),
    refused("permuted names", lambda: named().predict(FRAME[["c", "b", "a"]]), "same order", SELECT),
    refused("permuted polars", lambda: named().predict(pl.DataFrame(X, schema=["c", "b", "a"])), "same order", SELECT),
    refused("renamed", lambda: named().predict(FRAME.rename(columns={"a": "z"})), "unseen at fit time:\n- z", SELECT),
    refused("another column", lambda: named().predict(FRAME.assign(d=1.0)), "unseen at fit time:\n- d", SELECT),
    refused("a column is gone", lambda: named().predict(FRAME[["a", "b"]]), "now missing:\n- c", SELECT),
    refused(
        "duplicate names", lambda: named().predict(FRAME.set_axis(["a", "a", "b"], axis=1)), "'a'", "rename or drop"
    ),
    refused("dates now", lambda: named().predict(FRAME.assign(b=pd.Timestamp("2020"))), "dates.* 'b'", "make numbers"),
    works("no names now", lambda: named().predict(X), lambda: plain().predict(X), warns="not have valid feature names"),
    works(
        "names now", lambda: plain().predict(FRAME), lambda: plain().predict(X), warns="fitted without feature names"
    ),
    refused("quantile 0", lambda: plain().predict_quantiles(X, (0.0,)), r"quantiles=\(0.0,\)", "between 0 and 1"),
    refused("quantile 1", lambda: plain().predict_quantiles(X, (1.0,)), "quantiles=", "between 0 and 1, such as"),
    refused("quantile -1", lambda: plain().predict_quantiles(X, (-1.0,)), "quantiles=", "between 0 and 1, such as"),
    refused("quantile NaN", lambda: plain().predict_quantiles(X, (np.nan,)), "quantiles=", "between 0 and 1, such as"),
    refused("quantile as a number", lambda: plain().predict_quantiles(X, 0.5), "quantiles=0.5", "such as"),
    refused("quantile as text", lambda: plain().predict_quantiles(X, ("half",)), "quantiles=", "such as"),
    refused("no quantiles", lambda: plain().predict_quantiles(X, ()), r"quantiles=\(\)", "such as"),
    refused("coverage 0", lambda: plain().predict_interval(X, 0), "coverage=0", "such as 0.95"),
    refused("coverage 1", lambda: plain().predict_interval(X, 1), "coverage=1", "such as 0.95"),
    refused("coverage 95", lambda: plain().predict_interval(X, 95), "coverage=95", "such as 0.95"),
    refused("coverage NaN", lambda: plain().predict_interval(X, np.nan), "coverage=nan", "such as 0.95"),
    refused("coverage as text", lambda: plain().predict_interval(X, "95 %"), "coverage='95 %'", "such as 0.95"),
    refused("no samples", lambda: plain().sample_posterior(-1), "n=-1", "at least 1"),
    refused("a sample's width", lambda: plain().sample_posterior()[0](X[:, :2]), r"shape \(24, 2\)", "expected finite"),
]
SCORES = [
    refused("y too short", lambda: plain().log_score(X, Y[1:]), r"y has shape \(23,\)", r"expected \(24,\)"),
    refused("y with NaN", lambda: plain().log_score(X, np.r_[np.nan, Y[1:]]), "1 NaN", "drop their rows"),
    refused(
        "y masked", lambda: plain().log_score(X, np.ma.MaskedArray(Y, mask=Y > 1)), "masked in 3", "drop their rows"
    ),
    refused(
        "y on its side", lambda: regressor().fit(X, np.c_[Y, Y]).log_score(X, np.c_[Y, Y].T), "(2, 24)", "expected"
    ),
    refused("negative weights", lambda: plain().log_score(X, Y, -np.ones(ROWS)), "Negative values", "at least 0"),
    refused("weights zero", lambda: plain().log_score(X, Y, np.zeros(ROWS)), "at least one non-zero", "finite weight"),
    refused("few weights", lambda: plain().log_score(X, Y, np.ones(3)), r"\(3,\), expected \(24,\)", "give each row"),
    refused(
        "labels too few", lambda: classes().log_score(X, LABELS[:1]), "y has 1 labels, but X has 24", "for each row"
    ),
    refused(
        "unseen label", lambda: classes().log_score(X, LABELS + 5), "has the class 6, which training did not", "anew"
    ),
    refused("labels as text", lambda: classes().log_score(X, LABELS.astype(str)), "the class '1'", "fit anew"),
    works("unseen label in score", lambda: classes().score(X, LABELS + 5), lambda: 0.0),
]


def partial(*calls: tuple[Any, ...], **changes: Any) -> Any:
    """Call after call of partial_fit; `changes` are parameters that are set after the first."""
    model = classifier() if np.asarray(calls[0][1]).dtype.kind in "iuU" else regressor()
    for X_part, y_part, *rest in calls:
        model.partial_fit(X_part, y_part, *rest)
        model.set_params(**changes)
    return model


STREAMS = [
    refused("columns change", lambda: partial((X, Y), (X[:, :2], Y)), "X has 2 features", "columns of the first fit"),
    refused("outputs change", lambda: partial((X, Y), (X, np.c_[Y, Y])), "y has 2 outputs", "give as many"),
    refused("layers change", lambda: partial((X, Y), (X, Y), hidden_layer_sizes=(5,)), "now ask for", "begin anew"),
    refused("activation changes", lambda: partial((X, Y), (X, Y), activation="abs"), "activation='abs'", "begin anew"),
    refused(
        "far from the first", lambda: partial((X, Y), (1e30 * X, Y)), r"times the scale of the training data", UNIT
    ),
    refused("y far from the first", lambda: partial((X, Y), (X, 1e200 * Y)), "y has .*column 0", UNIT),
    refused("one label at first", lambda: partial((X, 0 * LABELS)), "only one class", r"list them all \(classes="),
    refused("classes miss a label", lambda: partial((X, LABELS, [0, 5])), "the class 1, which", r"\(classes=...\)"),
    refused("classes with NaN", lambda: partial((X, LABELS, [0, 1, np.nan])), "classes has 1 labels", "drop"),
    refused("classes of two types", lambda: partial((X, LABELS, [0, 1, "a"])), "classes mixes text", "make text"),
    refused("classes as text", lambda: partial((X, LABELS, ["0", "1"])), "the class 0, which", r"\(classes=...\)"),
    refused("no classes", lambda: partial((X, LABELS, [])), r"classes has only one class, \[\]", "at least two"),
    works("classes as a set", lambda: partial((X, LABELS, {0, 1})).classes_, lambda: [0, 1]),
    refused(
        "warm start, other layers",
        lambda: regressor(warm_start=True).fit(X, Y).set_params(hidden_layer_sizes=(5,)).fit(X, Y),
        "now ask for",
        "warm_start=False",
    ),
]


def parameter(name: str, value: Any, remedy: str) -> Kind:
    """A parameter of both estimators that `fit` refuses."""
    what = f"^{name}[= ]" if name != "groups" else "^groups"
    return Kind(f"{name}={value!r}", lambda: regressor(**{name: value}).fit(X, Y), Refused(ValueError, what, remedy))


WHOLE = "whole number of at least 1"
SEEDS = "whole number from 0"
PARAMETERS = [
    *(parameter("keep", value, "expected 2 to 7 units") for value in (0, -1, 1, 8, 0.01)),
    *(
        parameter("keep", value, r"fractions? in \(0, 1\]")
        for value in (1.5, np.nan, "all", True, [None], {}, (1.0, 0.0))
    ),
    *(parameter("hidden_layer_sizes", v, r"such as \(64, 64\)") for v in ((0,), "64", 1.5, None, (4.0,), {4}, True)),
    *(parameter("batch_size", value, WHOLE) for value in (0, -1, 1.5, "x", None, True, np.nan)),
    *(parameter("max_epochs", value, WHOLE) for value in (0, -1, 2.0, None)),
    *(parameter("sweeps", value, WHOLE) for value in (0, 1.5)),
    *(parameter("patience", value, WHOLE) for value in (0, "x")),
    *(parameter("random_state", value, SEEDS) for value in (-1, "x", 1.5, 2**40, np.nan, [1])),
    *(parameter("activation", value, "expected one of relu") for value in ("tanh", "ReLU", None, ["relu"])),
    *(parameter("prior", value, "expected one of") for value in ("laplace", None)),
    *(parameter("preset", value, '"paper" or None') for value in ("auto", "printed", 1, ["paper"])),
    *(parameter("pruning", value, "expected one of") for value in ("none", None)),
    *(parameter("noise_every", value, "expected one of") for value in ("row", 3)),
    *(parameter("noise_rate", value, r"a number in \(0, 1\]") for value in (0, 1.5, None, "x")),
    *(parameter("prediction", value, "expected one of") for value in ("median", None)),
    *(parameter("trust", value, "or None for no limit") for value in (0, -1, "x", np.nan, True)),
    *(parameter("centre_rate", value, r"a number in \[0, 1\)") for value in (1, -0.1, None, "x")),
    *(parameter("active_threshold", value, r"a number in \(0, 1\]") for value in (0, 1.5, None)),
    *(parameter("init_active_prob", value, r"a number in \(0, 1\]") for value in (0, 1.5, "x")),
    *(parameter("noise", value, '"constant" or "varying"') for value in ("loud", None)),
    *(parameter("noise_update", value, "expected one of") for value in ("sgd", [])),
    *(parameter("data_weight", v, "positive number") for v in ("x", None, 0, -1, np.nan, (), ("a",), 1e300, 1e-300)),
    *(parameter("validation_fraction", value, r"number in \(0, 1\)") for value in (0, 1, np.nan, "x", None)),
    *(parameter("early_stopping", value, "True, False") for value in ("no", None, 2)),
    *(parameter("standardize", value, "True or False") for value in ("False", None)),
    *(parameter("warm_start", value, "True or False") for value in ("no",)),
    *(parameter("callbacks", value, "a list of functions") for value in ("x", 3, [3])),
    *(parameter("verbose", value, "0, 1 or 2") for value in ("x", None)),
    *(parameter("groups", v, "expected") for v in ("abc", 3, [0, 0], [[0, 9]], [[]], [["z"]], [[1.5]])),
    parameter("groups", [[0, 1], [1, 2]], "each into one group"),
    parameter("groups", [None, None, 1], "give each input a number"),
    *(
        Kind(
            f"class_weight={weight!r}",
            lambda weight=weight: classifier(class_weight=weight).fit(X, LABELS),
            Refused(ValueError, "class_weight=", "expected a dictionary"),
        )
        for weight in ("heavy", {0: -1, 1: 1}, {0: np.nan, 1: 1}, {0: 0, 1: 0}, {0: "a", 1: 1})
    ),
]
