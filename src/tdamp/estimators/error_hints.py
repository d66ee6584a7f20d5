"""Errors of scikit-learn, NumPy and the makers of frames, with what to do about them."""

from __future__ import annotations

import re

TABLE = "give numbers in rows and columns: a NumPy array, a list of rows or a data frame"
NUMBERS = "make numbers of text, categories and dates first (tdamp.tables.Encoder or scikit-learn's encoders do)"
LABELS = "make text of them: [str(label) for label in y]"
ROWS = "give a list or an array with one entry for each row of X"
WEIGHTS = "give each row a finite weight of at least 0, not all zero; None counts all rows alike"

REMEDIES = (
    (r"(?i)sample.?weight", WEIGHTS),
    (r"int too large", "use another unit"),
    (r"Cannot cast", "numpy.lib.recfunctions.structured_to_unstructured makes a table of a structured array"),
    (r"could not convert string|float\(\) argument|DType", NUMBERS),
    (r"inhomogeneous|setting an array element", f"rows must be equally long, and cells single numbers: {TABLE}"),
    (r"inconsistent numbers of samples", "give one y, and one weight, for each row of X"),
    (r"Input y contains", "drop these rows"),
    (r"0 sample", "give at least one row"),
    (r"0 feature|at least one array or dtype", "give at least one column"),
    (r"dim 3", 'flatten each sample to a row, a.reshape(len(a), -1), or give layers="image"'),
    (r"features, but", "give the columns of the first fit, in its order"),
    (r"feature names should match", "select the columns of the fit: X[list(model.feature_names_in_)]"),
    (r"continuous\.", "predict numbers with TDAMPRegressor, or give labels as text or whole numbers"),
    (r"label type", "give labels as text, whole numbers or truth values, all of one type"),
    (r"1d array", "give one label for each row: y of shape (rows,)"),
    (r"y to be passed", "call fit(X, y)"),
    (r"at least 1 dimension", ROWS),
    (r"Reshape your data|toarray|np\.asarray|DataFrame|detach|Convert the labels|astype\(str\)", ""),  # they say it
)
"""What to do, by what an error says: the first pattern that is found counts."""


def with_hint(error: Exception) -> ValueError | TypeError:
    """The same error as ValueError or TypeError, with a remedy at its end."""
    message = str(error).rstrip()
    remedy = next((remedy for pattern, remedy in REMEDIES if re.search(pattern, message)), TABLE)
    kind = ValueError if isinstance(error, ValueError | OverflowError) else TypeError
    return kind(f"{message.rstrip('.')}: {remedy}" if remedy else message)
