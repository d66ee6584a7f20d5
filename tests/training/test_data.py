"""Every error at the boundary, by its message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tdamp import Network, Settings, fit
from tdamp.engine.settings import check_network
from tdamp.training.data import check_data, check_groups

X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
Y = np.zeros((6, 2), np.float32)
LABELS = np.array([0, 1, 0, 1, 1, 0])
REGRESSION, CLASSIFICATION = Network((3, 2)), Network((3, 2), "classification")


def with_value(value: float) -> np.ndarray:
    """X with one bad entry."""
    x = X.copy()
    x[4, 1] = value
    return x


@pytest.mark.parametrize(
    ("network", "x", "y", "weight", "match"),
    [
        (REGRESSION, X[:, :2], Y, None, r"x has shape \(6, 2\): expected \(rows, 3\)"),
        (REGRESSION, X[0], Y, None, r"x has shape \(3,\)"),
        (REGRESSION, X[:0], Y[:0], None, "x has no rows"),
        (REGRESSION, X.astype(str), Y, None, "x has dtype .*encode text"),
        (REGRESSION, with_value(np.nan), Y, None, r"x has 1 NaN or infinite values \(first at row 4, column 1\)"),
        (REGRESSION, with_value(np.inf), Y, None, "x has 1 NaN or infinite"),
        (REGRESSION, X, Y[:5], None, "x has 6 rows but y has shape"),
        (REGRESSION, X, Y[:, :1], None, r"y has shape \(6, 1\): expected \(rows, 2\)"),
        (REGRESSION, X, Y[:, 0], None, r"y has shape \(6,\): expected \(rows, 2\)"),
        (REGRESSION, X, Y.astype(str), None, "y has dtype .*expected numbers"),
        (REGRESSION, X, Y + np.nan, None, "y has 12 NaN or infinite values"),
        (CLASSIFICATION, X, LABELS + 0.0, None, "one integer label for each row"),
        (CLASSIFICATION, X, LABELS[:, None], None, "one integer label for each row"),
        (CLASSIFICATION, X, LABELS - 1, None, "labels run from -1 to 0: expected 0 to 1"),
        (CLASSIFICATION, X, LABELS + 1, None, "labels run from 1 to 2: expected 0 to 1"),
        (REGRESSION, X, Y, np.ones(5), r"sample_weight has shape \(5,\): expected \(6,\)"),
        (REGRESSION, X, Y, -np.ones(6), "sample_weight must be finite, not negative"),
        (REGRESSION, X, Y, np.zeros(6), "not all zero"),
        (REGRESSION, X, Y, np.full(6, np.nan), "sample_weight must be finite"),
    ],
)
def test_bad_data(network: Network, x: np.ndarray, y: np.ndarray, weight: np.ndarray | None, match: str) -> None:
    """contract: each kind of bad data is refused by fit, and the message says what is wrong."""
    with pytest.raises(ValueError, match=match):
        fit(network, x, y, Settings(max_epochs=1), sample_weight=weight)


def test_good_data_keep_their_precision() -> None:
    """contract: float32 and float64 stay, anything else becomes float32; one output may be a vector."""
    for dtype, expected in ((np.float32, "f4"), (np.float64, "f8"), (np.float16, "f4"), (np.int64, "f4"), (bool, "f4")):
        data = check_data(Network((3, 1)), X.astype(dtype), Y[:, 0], None)
        assert data.x.dtype == data.y.dtype == data.weight.dtype == np.dtype(expected)
        assert data.y.shape == (6, 1) and np.all(data.weight == 1)
    assert check_data(CLASSIFICATION, X, LABELS.astype(np.uint8), None).y.dtype == np.int32


def test_groups() -> None:
    """contract: ids of any kind become 0..n-1; singles mean no groups; a wrong length is refused."""
    np.testing.assert_array_equal(check_groups(np.array(["b", "a", "b"]), 3), [1, 0, 1])
    np.testing.assert_array_equal(check_groups(np.array([7, 7, -3]), 3), [1, 1, 0])
    assert check_groups(np.array([3, 1, 2]), 3) is None and check_groups(None, 3) is None
    with pytest.raises(ValueError, match=r"groups has shape \(2,\): expected \(3,\)"):
        check_groups(np.array([0, 1]), 3)
    with pytest.raises(ValueError, match='prior="burst" runs over single units'):
        fit(REGRESSION, X, Y, Settings(prior="burst"), groups=np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="each of the 1 layers needs one"):
        fit(REGRESSION, X, Y, Settings(keep=0.1))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"prior": "laplace"}, "prior='laplace': expected one of 'gaussian', 'group', 'burst'"),
        ({"pasp": "none"}, "pasp='none': expected one of"),
        ({"noise_update": "sgd"}, "noise_update='sgd'"),
        ({"noise_every": "hour"}, "noise_every='hour'"),
        ({"pruning": "some"}, "pruning='some'"),
        ({"max_epochs": 0}, "max_epochs=0: expected a whole number of at least 1"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"sweeps": -1}, "sweeps=-1"),
        ({"trust": 0.0}, "trust=0.0: expected a positive number"),
        ({"noise_init": float("nan")}, "noise_init=nan"),
        ({"init_scale": float("inf")}, "init_scale=inf"),
        ({"init_noise": -1.0}, "init_noise=-1.0"),
        ({"init_active_prob": 0.0}, r"init_active_prob=0.0: expected a number in \(0, 1\]"),
        ({"active_threshold": 1.5}, "active_threshold=1.5"),
        ({"noise_rate": 0.0}, "noise_rate=0.0"),
        ({"pasp_power": 1.1}, "pasp_power=1.1"),
        ({"damping": 1.0}, r"damping=1.0: expected a number in \[0, 1\)"),
        ({"centre_rate": -0.1}, "centre_rate=-0.1"),
        ({"prune_start": 0.6}, "prune_start and prune_end are fractions"),
        ({"prune_end": 1.2}, "prune_start and prune_end are fractions"),
        ({"data_weight": (1.0, 0.0)}, "data_weight=.*expected a positive number, or a sequence"),
        ({"data_weight": float("nan")}, "data_weight=nan"),
        ({"data_weight": ()}, "data_weight="),
        ({"memory": (2.0, -1.0)}, "memory=.*expected a positive number, or a sequence"),
        ({"keep": 0.5, "max_params": 10}, "give one of keep, max_params and max_multiply_adds"),
        ({"keep": 0.5, "pruning": "paper"}, 'needs prior="group"'),
        ({"keep": 5, "pruning": "paper", "prior": "group"}, "keep as a fraction"),
        ({"keep": 1.5}, r"keep=1.5: expected a fraction in \(0, 1\]"),
        ({"keep": 0.0}, "keep=0.0"),
    ],
)
def test_bad_settings(changes: dict[str, Any], match: str) -> None:
    """contract: each setting that cannot work is refused when it is made."""
    with pytest.raises(ValueError, match=match):
        Settings(**changes)


@pytest.mark.parametrize(
    ("network", "match"),
    [
        (Network((3,)), "expected at least two positive whole numbers"),
        (Network((3, 0, 1)), "expected at least two positive"),
        (Network((3, 2.0, 1)), "expected at least two positive"),
        (Network((3, 1), activation="tanh"), "activation='tanh': expected one of relu"),
        (Network((3, 1), "ranking"), "task='ranking'"),
        (Network((3, 1), "classification"), "a classifier needs at least two outputs"),
    ],
)
def test_bad_networks(network: Network, match: str) -> None:
    """contract: each network the engine cannot run is refused."""
    with pytest.raises(ValueError, match=match):
        check_network(network)


def test_data_weight_and_memory_by_epoch() -> None:
    """contract: a number holds for all epochs, of a sequence the last value holds on."""
    assert [Settings(data_weight=3).data_weight_at(e) for e in (0, 9)] == [3.0, 3.0]
    assert [Settings(data_weight=(1.0, 2.0)).data_weight_at(e) for e in range(4)] == [1.0, 2.0, 2.0, 2.0]
    assert [Settings(data_weight=(1.0, 2.0)).memory_at(e) for e in (0, 5)] == [1.0, 2.0]  # the same, unless given
    assert [Settings(memory=(4.0, 8.0)).memory_at(e) for e in (0, 5)] == [4.0, 8.0]
    assert not Settings().prunes and Settings(max_multiply_adds=9).prunes


def test_schedule_while_units_go() -> None:
    """contract: data weight and memory are held low until pruning ends, then begin anew, unless memory is given."""
    ramp = tuple(float(k) for k in range(1, 21))
    settings = Settings(max_epochs=10, prune_end=0.4, keep=0.5, data_weight=ramp)
    assert [settings.data_weight_at(e) for e in range(6)] == [1, 2, 2, 2, 1, 2]
    assert [settings.memory_at(e) for e in range(6)] == [1, 1, 1, 1, 1, 2]
    given = Settings(max_epochs=10, prune_end=0.4, keep=0.5, data_weight=ramp, memory=3.0)
    assert [given.data_weight_at(e) for e in range(6)] == [1, 2, 3, 4, 5, 6] and given.memory_at(0) == 3
