"""A table cut into clients, for experiments: iid, or with skewed labels, sizes or inputs.

`dirichlet`: of every class, client k gets the share p_k, p ~ Dirichlet(alpha, ..., alpha), as in Hsu et al., 2019;
`quantity`: the shares are those of the rows; `feature`: neighbours in the inputs go to one client. Small alpha, strong
skew. Not guaranteed: that every client sees every class. Oracle: enumeration of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = '"iid", "dirichlet:ALPHA", "quantity:ALPHA", "feature" or "feature:COLUMN"'
BINS = 10
"""Quantile bins that stand for the classes of a target that has none."""
OVERLAP = 0.1
"""Blocks of the feature split run into each other by about this part of their width."""


def split(name: str, X: Any, y: Any, clients: int, seed: int) -> list[np.ndarray]:
    """Row indices of every client, ascending: each row goes to one client, and no client is left without.

    `name` is "iid", "dirichlet:0.1" (label skew; a target that is not whole numbers is cut into quantile bins),
    "quantity:0.5" (sizes), "feature" (blocks along the first principal component) or "feature:COLUMN" (along a column,
    by name or position).
    """
    rows = len(X)
    if not 1 <= clients <= rows:
        raise ValueError(f"clients={clients!r}: expected a number from 1 to {rows}, as each needs a row")
    rng = np.random.default_rng(seed)
    kind, _, option = name.partition(":")
    if name == "iid":
        client_of = _equal_parts(rng.permutation(rows), clients)
    elif kind == "feature":
        client_of = _by_feature(X, option, clients, rng)
    elif kind == "dirichlet" and option:
        client_of = _by_label(np.asarray(y), clients, _alpha(name, option), rng)
    elif kind == "quantity" and option:
        shares = rng.dirichlet(np.full(clients, _alpha(name, option)))
        sizes = 1 + np.diff(np.floor(np.cumsum(shares) * (rows - clients)), prepend=0).astype(int)
        sizes[-1] += rows - sizes.sum()  # what rounding of the sum of shares left over
        client_of = rng.permutation(np.repeat(np.arange(clients), sizes))
    else:
        raise ValueError(f"split {name!r}: expected {NAMES}, such as 'dirichlet:0.5'")
    return [np.flatnonzero(client_of == k) for k in range(clients)]


def _equal_parts(place: np.ndarray, clients: int) -> np.ndarray:
    """The client of each row, rows being at these places of a queue that is cut into equal parts."""
    return place * clients // len(place)


def _by_label(y: np.ndarray, clients: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
    client_of = np.zeros(len(y), int)
    labels = _labels(y)
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        ends = np.cumsum(rng.dirichlet(np.full(clients, alpha))) * len(rows)
        client_of[rows] = np.minimum(np.searchsorted(ends, np.arange(len(rows)), side="right"), clients - 1)
    for k in range(clients):
        if not (client_of == k).any():  # the largest client has a row to spare
            largest = np.bincount(client_of, minlength=clients).argmax()
            client_of[rng.choice(np.flatnonzero(client_of == largest))] = k
    return client_of


def _labels(y: np.ndarray) -> np.ndarray:
    """Classes as they are; numbers (of several outputs: the first) by quantile bins."""
    first = y.reshape(len(y), -1)[:, 0]
    if first.dtype.kind == "f" and (first != np.round(first)).any():
        return np.searchsorted(np.quantile(first, np.arange(1, BINS) / BINS), first)
    return np.unique(first, return_inverse=True)[1]


def _by_feature(X: Any, column: str, clients: int, rng: np.random.Generator) -> np.ndarray:
    names = [str(name) for name in getattr(X, "columns", range(np.shape(X)[1]))]
    if column and column not in names:
        raise ValueError(f"split 'feature:{column}': X has no such column, only {', '.join(names)}")
    x = np.asarray(X, np.float64)
    if column:
        score = x[:, names.index(column)]
    else:
        spread = x.std(0)
        x = (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)
        score = x @ np.linalg.svd(x, full_matrices=False)[2][0]
    rank = score.argsort(kind="stable").argsort() * clients / len(score)
    return _equal_parts((rank + OVERLAP * rng.standard_normal(len(score))).argsort().argsort(), clients)


def _alpha(name: str, text: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        alpha = np.nan
    if not (np.isfinite(alpha) and alpha > 0):
        raise ValueError(f"split {name!r}: expected a positive number after the colon, such as 0.5")
    return alpha
