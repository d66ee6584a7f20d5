"""Which of several independent Gaussians is the largest, by dense quadrature around every scale that is there."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, logsumexp

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NEAR = np.arange(-12.0, 12.01, 0.5)
_STEPS = np.concatenate([-np.geomspace(1e7, 12.5, 80), _NEAR, np.geomspace(12.5, 1e7, 80)])


def _peak(y: int, mean: np.ndarray, std: np.ndarray) -> float:
    """Where the density of score y times the chance that it beats the others is largest: log-concave, so a root."""

    def slope(t: float) -> float:
        sds = (t - mean) / std
        log_ratio = -0.5 * sds**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(sds)
        return -sds[y] / std[y] + np.delete(np.exp(log_ratio) / std, y).sum()

    high = mean.max() + 40 * std.max()
    return brentq(slope, mean[y], high) if slope(mean[y]) > 0 else mean[y]


def log_probs(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """log P(score y is the largest) of one row of scores N(mean, std^2), each relatively right, however small."""
    results = []
    for y in range(len(mean)):
        peak = _peak(y, mean, std)
        pull = 1 / np.sqrt(1 / std[y] ** 2 + (1 / std[mean > peak] ** 2).sum())
        edges = [mean[:, None] + std[:, None] * _NEAR, peak + pull * _STEPS, peak + std[y] * _NEAR]
        edges = np.unique(np.concatenate([part.ravel() for part in edges]))
        low, high = edges[:-1, None], edges[1:, None]
        t = ((low + high) / 2 + (high - low) / 2 * _NODES).ravel()
        log_weight = (np.log((high - low) / 2) + np.log(_WEIGHTS)).ravel()
        sds = (t[:, None] - mean) / std
        log_density = -0.5 * sds[:, y] ** 2 - np.log(np.sqrt(2 * np.pi) * std[y])
        results.append(logsumexp(log_weight + log_density + log_ndtr(np.delete(sds, y, 1)).sum(1)))
    return np.array(results)
