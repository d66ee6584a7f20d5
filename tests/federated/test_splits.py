"""splits: every row once, the skew that was asked for, and errors that say what to do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdamp.federated.splits import split

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)) * [3.0, 1.0, 0.1]
LABELS = RNG.integers(0, 4, 400)
NUMBERS = X[:, 0] + 0.1 * RNG.normal(size=400)


@given(
    name=st.sampled_from(["iid", "dirichlet:0.001", "dirichlet:0.1", "dirichlet:1e6", "quantity:0.01", "feature"]),
    rows=st.integers(1, 60),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
    whole=st.booleans(),
)
def test_every_row_goes_to_one_client(name: str, rows: int, share: float, seed: int, whole: bool) -> None:
    """contract: the parts are ascending, not empty, and together all rows; as many clients as rows is fine."""
    clients = max(1, round(share * rows))
    parts = split(name, X[:rows], (LABELS if whole else NUMBERS)[:rows], clients, seed)
    assert len(parts) == clients and all(len(part) and (np.diff(part) > 0).all() for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(rows))


@pytest.mark.parametrize("name", ["iid", "dirichlet:0.3", "quantity:0.5", "feature"])
def test_the_seed_decides(name: str) -> None:
    """twin: the same seed gives the same parts, another seed others."""
    first, again, other = (split(name, X, LABELS, 5, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def label_shares(parts: list[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """(clients, classes): each client's class frequencies."""
    return np.array([np.bincount(labels[part], minlength=labels.max() + 1) / len(part) for part in parts])


def test_iid_parts_are_equal_and_alike() -> None:
    """calibration: sizes differ by one at most; class frequencies by five standard deviations at most."""
    parts = split("iid", X, LABELS, 7, 0)
    assert {len(part) for part in parts} == {57, 58}
    assert np.abs(label_shares(parts, LABELS) - np.bincount(LABELS) / 400).max() < 5 * np.sqrt(0.25 * 0.75 / 57)


def test_dirichlet_skews_labels_by_alpha() -> None:
    """rate: a client's share of a class has the Dirichlet's variance, (1 - 1/K) / (K (K alpha + 1)), K clients."""
    clients, seeds = 4, range(100)
    for alpha in (0.3, 5.0):
        counts = []
        for seed in seeds:
            parts = split(f"dirichlet:{alpha}", X, LABELS, clients, seed)
            table = np.array([np.bincount(LABELS[part], minlength=4) for part in parts])
            counts.append(table / table.sum(0))
        expected = (1 - 1 / clients) / (clients * (clients * alpha + 1))
        np.testing.assert_allclose(np.var(counts), expected, rtol=0.15)  # 1600 draws, four standard errors


def test_dirichlet_bins_a_regression() -> None:
    """contract: with a tiny alpha each of the ten quantile bins lies with one client, but for rows given away."""
    parts = split("dirichlet:0.001", X, NUMBERS, 4, 0)
    ranks = NUMBERS.argsort().argsort() * 10 // 400
    for bin in range(10):
        assert max(np.isin(np.flatnonzero(ranks == bin), part).sum() for part in parts) >= 37


def test_quantity_skews_sizes_only() -> None:
    """contract: a small alpha gives one client most rows, a large one equal parts; labels stay mixed."""
    skewed, even = (sorted(map(len, split(f"quantity:{a}", X, LABELS, 5, 3))) for a in (0.001, 1e6))
    assert skewed[-1] > 300 and skewed[0] < 10
    assert even[-1] - even[0] <= 2
    largest = max(split("quantity:0.001", X, LABELS, 5, 3), key=len)
    assert np.abs(label_shares([largest], LABELS) - 0.25).max() < 0.1


def test_feature_blocks_follow_the_inputs() -> None:
    """contract: means along the column rise from client to client, and neighbouring ranges overlap a little."""
    correlated = X[:, :1] * [1.0, 2.0, -1.0] + 0.1 * RNG.normal(size=(400, 3))
    for name, table in (("feature:age", pd.DataFrame(X, columns=["age", "b", "c"])), ("feature:0", X)):
        parts = split(name, table, LABELS, 4, 0)
        assert all(len(part) == 100 for part in parts)
        ends = [(X[part, 0].min(), X[part, 0].mean(), X[part, 0].max()) for part in parts]
        for (_, mean, high), (low, later, _) in pairwise(ends):
            assert mean < later and low < high
            between = (X[:, 0] > low) & (X[:, 0] < high)
            assert between.mean() < 0.25
    along = [X[part, 0].mean() for part in split("feature", correlated, LABELS, 4, 0)]
    assert np.all(np.diff(along) > 0) or np.all(np.diff(along) < 0)


@pytest.mark.parametrize(
    ("name", "clients", "message"),
    [
        ("random", 3, "'random': expected \"iid\""),
        ("dirichlet", 3, "such as 'dirichlet:0.5'"),
        ("iid:3", 3, "expected"),
        ("dirichlet:0", 3, "positive number"),
        ("dirichlet:-1", 3, "positive number"),
        ("quantity:nan", 3, "positive number"),
        ("quantity:much", 3, "positive number"),
        ("feature:weight", 3, "no such column"),
        ("iid", 401, "from 1 to 400"),
        ("iid", 0, "from 1 to 400"),
    ],
)
def test_errors(name: str, clients: int, message: str) -> None:
    """contract: each wrong request gives a ValueError that names what was expected."""
    with pytest.raises(ValueError, match=message):
        split(name, X, LABELS, clients, 0)
