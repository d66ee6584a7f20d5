"""How wide a regression's predictions must be, told by rows that were not trained on.

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

from ..numerics.student_t import log_density

ENOUGH = 300
"""Rows that are looked at, at most, to find the best point of the grid."""
LEAST_DOF = 3.0
"""Nearer to 2 a few outliers would make the standard deviation, which is hardly finite there, of all predictions."""
_OCTAVE = np.log(2.0)
GRID = np.array(list(product(_OCTAVE * np.arange(-2, 5), _OCTAVE * np.arange(-1, 2.5, 0.5), np.log([1, 4, 16]))))
"""Logs of the two factors and of dof - LEAST_DOF, where the search begins."""
FURTHEST = 20.0
"""A search that strays is held here, so that nothing overflows; the prior keeps its end far inside."""
BLOCK = 256
"""Rows that are looked at together, under all points."""
PRIOR_MEAN = np.log([2.0, 1.0, 5.0])
PRIOR_STD = np.array([1.0, 0.5, 1.0])
"""Of the same logs."""
DRIFT_STD = np.array([0.3, 0.1, 0.5])
"""Of the same logs in a stream, about those before: as 200 rows tell that of the noise (variance 2 / rows). So a single
row hardly moves them, and what was more than some hundred rows ago is forgotten."""


class Calibration(NamedTuple):
    """Factors of the two variances, and degrees of freedom, one for each target. The variances are those of the t."""

    epistemic: np.ndarray
    noise: np.ndarray
    dof: np.ndarray

    @property
    def stretches(self) -> bool:
        """Whether rows have told of it; else nothing is stretched."""
        return bool(((self.epistemic != 1) | (self.noise != 1)).any())

    def carried(self, before: Level, after: Level) -> Calibration:
        """From the model that it was found for to one trained on more rows: predictions stay as wide as they were.

        A network that fits its rows more closely takes their noise, and its own doubt, for smaller than they are.
        """
        one = np.ones_like(self.epistemic)  # where a prediction has no epistemic part there is none to carry
        epistemic = np.divide(before.epistemic_var, after.epistemic_var, out=one, where=after.epistemic_var > 0)
        return Calibration(self.epistemic * epistemic, self.noise * before.noise_var / after.noise_var, self.dof)


class Level(NamedTuple):
    """Means over training rows of the two variances, (targets,) each."""

    epistemic_var: np.ndarray
    noise_var: np.ndarray


class Predicted(NamedTuple):
    """A regression's prediction, (rows, targets) each but for `dof`, (targets,): infinite for a Gaussian."""

    mean: np.ndarray
    epistemic_var: np.ndarray
    noise_var: np.ndarray
    dof: np.ndarray

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Of new observations, (rows, targets)."""
        return log_density(y, self.mean, np.sqrt(self.epistemic_var + self.noise_var), self.dof)

    def of(self, rows: np.ndarray) -> Predicted:
        """Some of the rows, or all in another order."""
        return Predicted(self.mean[rows], self.epistemic_var[rows], self.noise_var[rows], self.dof)

    def level(self, weight: np.ndarray) -> Level:
        """Weighted over its rows."""
        return Level(*(np.average(a, axis=0, weights=weight) for a in (self.epistemic_var, self.noise_var)))

    def stretched(self, by: Calibration | None) -> Predicted:
        """As wide as rows not trained on ask for; None leaves it alone."""
        if by is None:
            return self
        return Predicted(self.mean, self.epistemic_var * by.epistemic, self.noise_var * by.noise, by.dof)


def calibrate(y: np.ndarray, found: Predicted, weight: np.ndarray, before: Calibration | None = None) -> Calibration:
    """The most probable one, given predictions of rows that were not trained on and their targets, (rows, targets).

    In a stream it was `before`, and will not be far from there.
    """
    best = []
    priors = [PRIOR_MEAN] * y.shape[1] if before is None else _points(before)
    for column, mean in zip(_columns(y, found, weight), priors, strict=True):
        prior = mean, PRIOR_STD if before is None else DRIFT_STD
        start = GRID[np.argmax(_log_posterior(GRID, column, *prior))] if before is None else mean
        best.append(minimize(lambda *args: -_log_posterior(*args), start, (column, *prior), method="Nelder-Mead").x)
    return calibration_at(best)


def _points(by: Calibration) -> np.ndarray:
    """The logs, (targets, 3)."""
    return np.log(np.transpose([by.epistemic, by.noise, by.dof - LEAST_DOF]))


def calibration_at(points: Sequence[np.ndarray]) -> Calibration:
    """From the logs of both factors and of dof - LEAST_DOF, (3,) for each target."""
    epistemic, noise, tails = np.exp(np.transpose(points))
    return Calibration(epistemic, noise, LEAST_DOF + tails)


def best_log_scores(y: np.ndarray, found: Predicted, weight: np.ndarray) -> np.ndarray:
    """Log score of each row, stretched as suits the rows best on a grid: to compare epochs by."""
    step = -(-len(y) // ENOUGH)
    best = [
        GRID[np.argmax(_log_posterior(GRID, _Column(*(a[::step] for a in column)), PRIOR_MEAN, PRIOR_STD))]
        for column in _columns(y, found, weight)
    ]
    return found.stretched(calibration_at(best)).log_density(y).sum(1)


class _Column(NamedTuple):
    """One target of all rows."""

    y: np.ndarray
    mean: np.ndarray
    epistemic_var: np.ndarray
    noise_var: np.ndarray
    weight: np.ndarray


def _columns(y: np.ndarray, found: Predicted, weight: np.ndarray) -> list[_Column]:
    y, mean, epistemic, noise = (
        np.asarray(a, np.float64) for a in (y, found.mean, found.epistemic_var, found.noise_var)
    )
    return [_Column(y[:, i], mean[:, i], epistemic[:, i], noise[:, i], weight) for i in range(y.shape[1])]


def _log_posterior(point: np.ndarray, at: _Column, prior_mean: np.ndarray, prior_std: np.ndarray) -> Any:
    """Of one point, or of many at once."""
    return _log_likelihood(point, at) + log_prior(point, prior_mean, prior_std)


def _log_likelihood(point: np.ndarray, at: _Column) -> Any:
    epistemic, noise, tails = np.moveaxis(np.exp(np.clip(point, -FURTHEST, FURTHEST)), -1, 0)[..., None]
    std = np.sqrt(epistemic * at.epistemic_var + noise * at.noise_var)
    return log_density(at.y, at.mean, std, LEAST_DOF + tails) @ at.weight


def log_prior(point: np.ndarray, mean: np.ndarray = PRIOR_MEAN, std: np.ndarray = PRIOR_STD) -> Any:
    """Of points, (..., 3), but for a constant."""
    return -0.5 * (((point - mean) / std) ** 2).sum(-1)


def log_likelihoods(points: np.ndarray, y: np.ndarray, found: Predicted, weight: np.ndarray) -> np.ndarray:
    """Of each target under every point, (targets, points): sums over rows, which may be added up over tables."""
    total = np.zeros((y.shape[1], len(points)))
    for start in range(0, len(y), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(y)))
        total += [_log_likelihood(points, column) for column in _columns(y[rows], found.of(rows), weight[rows])]
    return total
