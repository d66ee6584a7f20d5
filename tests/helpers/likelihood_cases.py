"""What the exam needs to know of each likelihood: its density and its draws in NumPy, targets to try, which scores are
exact.

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
    draw: Callable[[np.random.Generator, np.ndarray], np.ndarray]  # y of rows x, (rows, inputs), by their first input
    constant_score: Callable[[np.ndarray], float]  # mean log score of the best prediction that is the same for all rows
    error: float = 1e-4  # of log_partition, in nats


def _gaussian(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.norm.logpdf(y, z[:, 0], np.sqrt(noise_var))


def _heteroscedastic(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.norm.logpdf(y, z[:, 0], np.sqrt(noise_var * np.exp(np.clip(z[:, 1], -12, 12))))


def _probit(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    own, rival = z[:, int(y)], z[:, 1 - int(y)]
    return stats.norm.logcdf((own - rival) / np.sqrt(noise_var))


def _poisson(z: np.ndarray, y: float, noise_var: float) -> np.ndarray:
    return stats.poisson.logpmf(y, np.exp(z[:, 0]))


def _draw_real(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return x[:, :1] + 0.3 * rng.normal(size=(len(x), 1))


def _draw_class(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return (x[:, 0] + 0.3 * rng.normal(size=len(x)) > 0).astype(int)


def _draw_count(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return rng.poisson(np.exp(0.5 + 0.8 * x[:, :1]))


def constant_real(y: np.ndarray) -> float:
    """Of a Gaussian."""
    return float(stats.norm.logpdf(y, y.mean(), y.std()).mean())


def constant_label(y: np.ndarray) -> float:
    """Of the shares of the labels 0, 1, ..."""
    y = y.ravel().astype(int)
    return float(np.mean(np.log(np.bincount(y)[y] / len(y))))


def constant_count(y: np.ndarray) -> float:
    """Of a Poisson number."""
    return float(stats.poisson.logpmf(y, y.mean()).mean())


# heteroscedastic: z is learned under constant noise; 15 nodes of h are off by 0.09 nats where its variance is 3.75
CASES = {
    "gaussian": Case(_gaussian, (-1.5, 0.3, 4.0), 1, (0,), _draw_real, constant_real),
    "heteroscedastic": Case(_heteroscedastic, (-1.5, 0.3, 4.0), 2, (1,), _draw_real, constant_real, error=0.1),
    "probit": Case(_probit, (0, 1), 2, (0, 1), _draw_class, constant_label),
    "poisson": Case(_poisson, (0, 1, 7), 1, (0,), _draw_count, constant_count),
}
