"""How wide a regression's predictions must be, told by rows that were not trained on.

The posterior takes weights to be independent, and training counts data more than once: the variance that it gives a
prediction is right in its pattern but not in its size, and the noise of training rows is less than that of new ones. So
the two parts are stretched, and the distribution is a Student's t: epistemic, noise and dof of `Calibration`, found by
the log score of rows not trained on and a prior (what such tables usually want), each target by itself.
Not guaranteed: rows unlike those. Oracle: predictions of known error.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from .student import log_density

ENOUGH = 300
"""Rows that are looked at, at most, to find the best point of the grid."""
LEAST_DOF = 3.0
"""Nearer to 2 a few outliers would make the standard deviation, which is hardly finite there, of all predictions."""
_OCTAVE = np.log(2.0)
GRID = np.array(list(product(_OCTAVE * np.arange(-2, 5), _OCTAVE * np.arange(-1, 2.5, 0.5), np.log([1, 4, 16]))))
"""Logs of the two factors and of dof - LEAST_DOF, where the search begins."""
FURTHEST = 20.0
"""A search that strays is held here, so that nothing overflows; the prior keeps its end far inside."""
PRIOR_MEAN = np.log([2.0, 1.0, 5.0])
PRIOR_STD = np.array([1.0, 0.5, 1.0])
"""Of the same logs."""


class Calibration(NamedTuple):
    """Factors of the two variances, and degrees of freedom, one for each target. The variances are those of the t."""

    epistemic: np.ndarray
    noise: np.ndarray
    dof: np.ndarray

    def carried(self, before: Level, after: Level) -> Calibration:
        """From the model that it was found for to one trained on more rows: predictions stay as wide as they were.

        A network that fits its rows more closely takes their noise, and its own doubt, for smaller than they are.
        """
        return Calibration(
            self.epistemic * before.epistemic_var / after.epistemic_var,
            self.noise * before.noise_var / after.noise_var,
            self.dof,
        )


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


def calibrate(y: np.ndarray, found: Predicted, weight: np.ndarray) -> Calibration:
    """The most probable one, given predictions of rows that were not trained on and their targets, (rows, targets)."""
    best = []
    for column in _columns(y, found, weight):
        start = GRID[np.argmax(_log_posterior(GRID, column))]
        best.append(
            minimize(lambda point, column=column: -_log_posterior(point, column), start, method="Nelder-Mead").x
        )
    return _calibration(best)


def _calibration(points: list[np.ndarray]) -> Calibration:
    epistemic, noise, tails = np.exp(np.transpose(points))
    return Calibration(epistemic, noise, LEAST_DOF + tails)


def best_log_scores(y: np.ndarray, found: Predicted, weight: np.ndarray) -> np.ndarray:
    """Log score of each row, stretched as suits the rows best on a grid: to compare epochs by."""
    step = -(-len(y) // ENOUGH)
    best = [
        GRID[np.argmax(_log_posterior(GRID, _Column(*(a[::step] for a in column))))]
        for column in _columns(y, found, weight)
    ]
    return found.stretched(_calibration(best)).log_density(y).sum(1)


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


def _log_posterior(point: np.ndarray, at: _Column) -> Any:
    """Of one point, or of many at once."""
    epistemic, noise, tails = np.moveaxis(np.exp(np.clip(point, -FURTHEST, FURTHEST)), -1, 0)[..., None]
    std = np.sqrt(epistemic * at.epistemic_var + noise * at.noise_var)
    log_likelihood = log_density(at.y, at.mean, std, LEAST_DOF + tails) @ at.weight
    return log_likelihood - 0.5 * (((point - PRIOR_MEAN) / PRIOR_STD) ** 2).sum(-1)
