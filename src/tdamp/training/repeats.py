"""Rows that occur more than once in a table: copies, or observations with equal inputs and targets?

Tables of categories, ratings or counts have equal rows that are observations; others have copies, which say nothing
new. Which they are decides what may be held out of a training (`equal_rows`). Oracle: enumeration of small tables.
"""

from __future__ import annotations

import warnings
from math import prod
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.util import hash_pandas_object

from .outcome import TrainingWarning, users_level

PIECE = 2**20
"""Numbers that are hashed at a time."""
CONFLICT = 0.1
"""Inputs repeat by design from this share on: of the rows whose inputs occur more than once, so many have another
target beside theirs. Copies have none."""
OFTEN = 8
"""Rows for each different input from which on inputs repeat by design, if no column is nearly one's own name."""
FEW_INPUTS = 30
"""Different inputs up to which those with one target each may be categories. And different rows above which it cannot
be chance that each occurs a multiple of some number of times."""
FILLED = 0.5
"""Share of all combinations of the columns' values from which on more inputs than that may be categories, too."""
CHANCE = 1e-3
"""Probability of such a multiple, among fewer rows, below which there is doubt."""


def keys_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A hash of each row in float32, (rows,) of 64 bits: equal rows have the same. Of n others any two do with
    probability n**2 / 2**65 at most, and are then kept together, which does no harm."""
    step = max(1, PIECE // max(1, prod(x.shape[1:]) + prod(y.shape[1:])))
    hashes = []
    for start in range(0, len(x), step):
        here = slice(start, start + step)
        with np.errstate(over="ignore"):
            rows = np.column_stack([x[here], y[here]]).astype(np.float32) + np.float32(0)  # -0.0 and 0.0 are equal
        hashes.append(hash_pandas_object(pd.DataFrame(rows), index=False).to_numpy())
    return np.concatenate(hashes)


def repeats_by_design(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether equal rows are observations of their own, as `repeats_of` finds it."""
    return repeats_of(x, y).by_design


class Repeats(NamedTuple):
    """What the equal rows of a table are."""

    by_design: bool
    """Observations of their own; otherwise copies."""
    copies: int = 1
    """How often a table that repeats by design was copied as a whole."""
    doubt: str = ""
    """Why its equal rows may be copies all the same."""


def repeats_of(x: np.ndarray, y: np.ndarray) -> Repeats:
    """Whether equal rows are observations or copies.

    Observations kept together would spoil the rest: of an input with both labels, all rows with one of them would be
    held out. Copies drawn one by one would be predicted from memory. A copy has the target of its original. So inputs
    repeat by design where one input often has several of a few targets (of many, equal ones are copies); or, if each
    has only one, where different inputs are few, or most of those that the columns' values could make. Where each of
    many different rows occurs a multiple of some number of times, the table was copied as a whole. What cannot be told
    apart: a noiseless function of a few categories from a few rows copied many times (`doubt`); and a table that
    repeats by design from one of which only some rows were copied.
    """
    _, cell, rows = np.unique(keys_of(x, np.zeros((len(x), 0))), return_inverse=True, return_counts=True)
    if len(rows) == len(x):
        return Repeats(False)
    targets = np.unique(y, axis=0, return_inverse=True)[1].ravel()
    kinds, counts = np.unique(np.column_stack([cell, targets]), axis=0, return_counts=True)
    multiple = int(np.gcd.reduce(counts))
    copies = multiple if len(kinds) > FEW_INPUTS else 1
    n_rows = len(x) // copies
    several = np.bincount(kinds[:, 0], minlength=len(rows))[cell] > 1
    few_targets = bool(targets.max() < np.sqrt(n_rows))
    if several.sum() > CONFLICT * (rows[cell] > copies).sum():
        chance = multiple ** -float(len(kinds)) if copies == 1 else 1.0
        doubt = f"each of its {len(kinds)} different rows occurs a multiple of {multiple} times"
        return Repeats(few_targets, copies, doubt if few_targets and chance < CHANCE else "")
    if n_rows < OFTEN * len(rows):
        return Repeats(False)
    values = [len(np.unique(column)) for column in x.T]
    crossed = 2 * max(values) <= len(rows)
    if len(rows) > FEW_INPUTS:
        by_design = crossed and few_targets and len(rows) >= FILLED * prod(map(float, values))
    else:
        by_design = crossed or sum(n > 1 for n in values) == 1
    doubt = f"it has only {len(rows)} different inputs, nearly all with one target each"
    return Repeats(by_design, doubt=doubt if by_design else "")


def warn_of_copies(x: np.ndarray, y: np.ndarray) -> None:
    """Say that equal rows are taken for observations where they may be copies."""
    doubt = repeats_of(x, y).doubt
    if doubt:
        warnings.warn(
            f"equal rows of this table are taken for observations of their own, but {doubt}. If they are copies, rows "
            "that were trained on judge the training, and error bars are too narrow. Use the table without the copies.",
            TrainingWarning,
            stacklevel=users_level(),
        )
