"""What an aggregation rule is to make of a single weight: densities that quadrature can integrate.

A client believes p_k(w) = P N(w; mean, std^2) + (1 - P) delta(w), P = sigmoid(logit). A definition gives the
aggregate's density away from zero and its mass at zero, both up to one common factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit
from scipy.stats import norm

Density = Callable[[float], float]


class Client(NamedTuple):
    """A client's belief about one weight."""

    logit: float
    mean: float
    std: float


def product(clients: Sequence[Client], shares: Sequence[float]) -> tuple[Density, float]:
    """prod_k p_k^share_k."""
    logit, mean, std = np.array(clients).T

    def on(w: float) -> float:
        return float(np.exp(np.dot(shares, log_expit(logit) + norm.logpdf(w, mean, std))))

    return on, float(np.exp(np.dot(shares, log_expit(-logit))))


def mixture(clients: Sequence[Client], shares: Sequence[float]) -> tuple[Density, float]:
    """sum_k share_k p_k."""
    logit, mean, std = np.array(clients).T

    def on(w: float) -> float:
        return float(np.dot(shares, expit(logit) * norm.pdf(w, mean, std)))

    return on, float(np.dot(shares, expit(-logit)))


DEFINITIONS: dict[str, Callable[[Sequence[Client], Sequence[float]], tuple[Density, float]]] = {
    "wga": product,
    "waa": mixture,
    "sites": product,  # in the first round, whose anchors are the base prior; test_site_factors has the rest
}
