"""What the exam needs to know of each likelihood: its density in NumPy, targets to try, which scores are exact.

A new likelihood adds a case here, and every test of `test_likelihoods.py` examines it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats


class Case(NamedTuple):
    """A likelihood with one target (or two classes)."""

    log_density: Callable[[np.ndarray, float, float], np.ndarray]  # of y given outputs (points, outputs) and noise_var
    targets: tuple[float, ...]
    n_outputs: int
    exact: tuple[int, ...]  # outputs whose score is the derivative of the log-partition
    has_noise: bool = True


def _gaussian(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.norm.logpdf(y, z[:, 0], np.sqrt(noise_var))


def _heteroscedastic(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.norm.logpdf(y, z[:, 0], np.sqrt(noise_var * np.exp(np.clip(z[:, 1], -12, 12))))


def _probit(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    own, rival = z[:, int(y)], z[:, 1 - int(y)]
    return stats.norm.logcdf((own - rival) / np.sqrt(noise_var))


def _poisson(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.poisson.logpmf(y, np.exp(z[:, 0]))


CASES = {
    "gaussian": Case(_gaussian, (-1.5, 0.3, 4.0), 1, (0,)),
    "heteroscedastic": Case(_heteroscedastic, (-1.5, 0.3, 4.0), 2, (1,)),  # z is learned under constant noise
    "probit": Case(_probit, (0, 1), 2, (0, 1)),
    "poisson": Case(_poisson, (0, 1, 7), 1, (0,), has_noise=False),
}
