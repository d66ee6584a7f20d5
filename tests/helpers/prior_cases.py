"""What the exam needs to know of each prior: its density over supports, by plain NumPy, and which orders mean the same.

A new prior adds a case here, and every test of `test_priors.py` examines it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from oracles import supports


class Case(NamedTuple):
    """A prior: log of the probability of a support of 0 and 1, up to a constant, on top of the units' own log-odds."""

    log_prior: Callable[[tuple[int, ...], Any], float]  # given the state of the layer
    order: Callable[[np.random.Generator, int], np.ndarray]  # another order of the units that means the same


def any_order(rng: np.random.Generator, n: int) -> np.ndarray:
    """Of units that do not know each other's places."""
    return rng.permutation(n)


def reversed_order(rng: np.random.Generator, n: int) -> np.ndarray:
    """Of a chain that is as likely backwards."""
    return np.arange(n)[::-1]


def _independent(support: tuple[int, ...], state: Any) -> float:
    return 0.0


def _chain(support: tuple[int, ...], state: Any) -> float:
    return supports.chain_log_prior(support, *(float(expit(logit)) for logit in state))


CASES = {
    "gaussian": Case(_independent, any_order),
    "group": Case(_independent, any_order),
    "burst": Case(_chain, reversed_order),
}
