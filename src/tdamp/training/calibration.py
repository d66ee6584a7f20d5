"""How wide a regression's predictions must be, found from rows that were not trained on.

The posterior takes weights to be independent, and training counts data more than once: the variance that it gives a
prediction is right in its pattern but not in its size, and the noise of training rows is less than that of new ones. So
the two parts are stretched, and the distribution is a Student's t: epistemic, noise and dof of `Calibration`, found by
the log score of rows not trained on and a prior (what such tables usually want), each target by itself.
Not guaranteed: rows unlike those. Oracle: predictions of known error.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..numerics.distribution import Distribution, Level
from ..numerics.student_t import log_density

ENOUGH = 300
"""Rows that are used, at most, to find the best point of the grid."""
LEAST_DOF = 3.0
"""Nearer to 2 a few outliers would make the standard deviation, which is hardly finite there, of all predictions."""
_OCTAVE = np.log(2.0)
GRID = np.array(list(product(_OCTAVE * np.arange(-2, 5), _OCTAVE * np.arange(-1, 2.5, 0.5), np.log([1, 4, 16]))))
"""Logs of the two factors and of dof - LEAST_DOF, where the search begins."""
FURTHEST = 20.0
"""A search that strays is held here, so that nothing overflows; the prior keeps its end far inside."""
BLOCK = 256
"""Rows that are used together, under all points."""
PRIOR_MEAN = np.log([2.0, 1.0, 5.0])
PRIOR_STD = np.array([1.0, 0.5, 1.0])
"""Mean and standard deviation of the same logs under the prior."""
DRIFT_STD = np.array([0.3, 0.1, 0.5])
"""Standard deviation of the same logs in a stream, about those before: as 200 rows determine that of the noise
(variance 2 / rows). So a single row hardly moves them, and what was more than some hundred rows ago is forgotten."""


class Calibration(NamedTuple):
    """Factors of the two variances, and degrees of freedom, one for each target. The variances are those of the t."""

    epistemic: np.ndarray
    noise: np.ndarray
    dof: np.ndarray

    @property
    def stretches(self) -> bool:
        """Whether it was found from rows; otherwise nothing is stretched."""
        return bool(((self.epistemic != 1) | (self.noise != 1)).any())

    def carried(self, before: Level, after: Level) -> Calibration:
        """The calibration of a model trained on more rows than the one it was found for: predictions stay as wide.

        A network that fits its rows more closely takes their noise, and its own doubt, for smaller than they are.
        """
        one = np.ones_like(self.epistemic)  # where a prediction has no epistemic part there is none to carry
        epistemic = np.divide(before.epistemic_var, after.epistemic_var, out=one, where=after.epistemic_var > 0)
        return Calibration(
            self.epistemic * epistemic, self.noise * before.aleatoric_var / after.aleatoric_var, self.dof
        )


def calibrate(
    y: np.ndarray, prediction: Distribution, weight: np.ndarray, before: Calibration | None = None
) -> Calibration:
    """The most probable calibration, given targets y, (rows, targets), and predictions of rows not trained on.

    In a stream it was `before`, and will not be far from there.
    """
    best = []
    priors = [PRIOR_MEAN] * y.shape[1] if before is None else _points(before)
    for column, mean in zip(_columns(y, prediction, weight), priors, strict=True):
        prior = mean, PRIOR_STD if before is None else DRIFT_STD
        start = GRID[np.argmax(_log_posterior(GRID, column, *prior))] if before is None else mean
        best.append(minimize(lambda *args: -_log_posterior(*args), start, (column, *prior), method="Nelder-Mead").x)
    return calibration_at(best)


def _points(by: Calibration) -> np.ndarray:
    """The logs of a calibration, (targets, 3)."""
    return np.log(np.transpose([by.epistemic, by.noise, by.dof - LEAST_DOF]))


def calibration_at(points: Sequence[np.ndarray]) -> Calibration:
    """The calibration with these logs of both factors and of dof - LEAST_DOF, (3,) for each target."""
    epistemic, noise, tails = np.exp(np.transpose(points))
    return Calibration(epistemic, noise, LEAST_DOF + tails)


def best_log_scores(y: np.ndarray, prediction: Distribution, weight: np.ndarray) -> np.ndarray:
    """Log score of each row, stretched as suits the rows best on a grid: to compare epochs by."""
    step = -(-len(y) // ENOUGH)
    best = [
        GRID[np.argmax(_log_posterior(GRID, _Column(*(a[::step] for a in column)), PRIOR_MEAN, PRIOR_STD))]
        for column in _columns(y, prediction, weight)
    ]
    return prediction.stretched(calibration_at(best)).log_density(y).sum(1)


class _Column(NamedTuple):
    """One target, its prediction and its weight, row by row."""

    y: np.ndarray
    mean: np.ndarray
    epistemic_var: np.ndarray
    noise_var: np.ndarray
    weight: np.ndarray


def _columns(y: np.ndarray, prediction: Distribution, weight: np.ndarray) -> list[_Column]:
    parts = y, prediction.mean, prediction.epistemic_var, prediction.aleatoric_var
    y, mean, epistemic, noise = (np.asarray(a, np.float64) for a in parts)
    return [_Column(y[:, i], mean[:, i], epistemic[:, i], noise[:, i], weight) for i in range(y.shape[1])]


def _log_posterior(point: np.ndarray, at: _Column, prior_mean: np.ndarray, prior_std: np.ndarray) -> Any:
    """Log posterior of one point, or of many at once."""
    return _log_likelihood(point, at) + log_prior(point, prior_mean, prior_std)


def _log_likelihood(point: np.ndarray, at: _Column) -> Any:
    epistemic, noise, tails = np.moveaxis(np.exp(np.clip(point, -FURTHEST, FURTHEST)), -1, 0)[..., None]
    std = np.sqrt(epistemic * at.epistemic_var + noise * at.noise_var)
    return log_density(at.y, at.mean, std, LEAST_DOF + tails) @ at.weight


def log_prior(point: np.ndarray, mean: np.ndarray = PRIOR_MEAN, std: np.ndarray = PRIOR_STD) -> Any:
    """Log prior of points, (..., 3), but for a constant."""
    return -0.5 * (((point - mean) / std) ** 2).sum(-1)


def log_likelihoods(points: np.ndarray, y: np.ndarray, prediction: Distribution, weight: np.ndarray) -> np.ndarray:
    """Log likelihood of each target under every point, (targets, points): sums over rows, which add up over tables."""
    total = np.zeros((y.shape[1], len(points)))
    for start in range(0, len(y), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(y)))
        total += [_log_likelihood(points, column) for column in _columns(y[rows], prediction.take(rows), weight[rows])]
    return total
