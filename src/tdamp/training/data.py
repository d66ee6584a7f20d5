"""The boundary: data that can be trained on, or an error that says what to do."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from ..engine.network import Network
from ..numerics.finite import check_finite


class Data(NamedTuple):
    """Checked training data, on the host."""

    x: np.ndarray  # (rows, inputs), floating
    y: np.ndarray  # (rows, outputs) floating, or (rows,) int32 labels
    weight: np.ndarray  # (rows,)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.x)


def check_x(x: np.ndarray, n_inputs: int) -> np.ndarray:
    """A finite two-dimensional floating array with the network's number of columns."""
    x = np.asanyarray(x)
    if x.ndim != 2 or x.shape[1] != n_inputs:
        raise ValueError(f"x has shape {x.shape}: expected (rows, {n_inputs}), the columns of the network's data")
    if x.shape[0] == 0:
        raise ValueError("x has no rows: give at least one sample")
    if x.dtype.kind not in "fiub":
        raise ValueError(f"x has dtype {x.dtype}: expected numbers; encode text and dates first")
    if x.dtype.kind != "f" or x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    x = x.astype(jax.dtypes.canonicalize_dtype(x.dtype), copy=False)  # float64 only where JAX has it switched on
    check_finite("x", x)
    return x


def check_data(network: Network, x: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> Data:
    """x, y and weights that fit the network, or ValueError."""
    x = check_x(x, network.n_columns)
    y = np.asarray(y)
    if y.shape[:1] != x.shape[:1]:
        raise ValueError(f"x has {x.shape[0]} rows but y has shape {y.shape}: they must agree")
    y = network.output.check_y(y, network.n_targets, x.dtype)
    weight = np.ones(len(x), x.dtype) if sample_weight is None else np.asarray(sample_weight, x.dtype)
    if weight.shape != (len(x),):
        raise ValueError(f"sample_weight has shape {weight.shape}: expected ({len(x)},)")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.sum() > 0):
        raise ValueError("sample_weight must be finite, not negative, and not all zero")
    return Data(x, y, weight)


def class_indices(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The engine's y: the index of each label among the sorted `classes` of a fit; ValueError if it is none of them."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y has the class {labels[unknown].tolist()[0]!r}, which training did not: it knew {classes.tolist()}. "
            "Give every class to partial_fit's first call (classes=...), or fit anew."
        )
    return np.searchsorted(classes, labels).astype(np.int32)


def check_groups(groups: np.ndarray | None, n_inputs: int) -> np.ndarray | None:
    """Group ids of the inputs as 0..n-1 in order of appearance, or None when every input stands alone."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_inputs,):
        raise ValueError(f"groups has shape {groups.shape}: expected ({n_inputs},), a group id for each input")
    _, ids = np.unique(groups, return_inverse=True)
    return None if len(np.unique(ids)) == n_inputs else ids.astype(np.int32)
