"""How wide a federated regression predicts, from sums over rows that its clients hold out.

A client sends the log likelihood of its rows held out under every point of a fixed grid of calibrations
(`training.calibration`): sums over rows, which the server adds up. With the prior their maximum, between the grid's
nodes by a spline, is the calibration of all clients' rows; by the log score there rounds are compared, so that
a posterior that is merely too sure of itself is not held against its means.
Not guaranteed: rows unlike those held out. Oracle: `calibration.calibrate` of all rows in one place.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.optimize import Bounds, minimize

from ..engine.network import Network
from ..prediction import batched
from ..training import calibration
from ..training.calibration import LEAST_DOF, Calibration
from ..training.data import Data
from ..training.fitted import Fitted

_OCTAVE = np.log(2.0)
AXES = _OCTAVE * np.arange(-3.0, 11.0), _OCTAVE * np.arange(-1.0, 3.5, 0.5), np.log([1.0, 4.0, 16.0, 64.0])
"""Logs of the factors of both variances and of dof - LEAST_DOF."""
POINTS = np.array(list(product(*AXES)))
SHAPE = tuple(map(len, AXES))


def n_scores(network: Network, hold_out: float) -> int:
    """Number of values that `held_out_scores` gives."""
    return 1 + (network.n_targets * len(POINTS) if network.output.is_calibrated and hold_out else 1)


def held_out_scores(fitted: Fitted, held: Data) -> np.ndarray:
    """Log scores of rows held out, summed, and at the end their number; of a regression under every point."""
    rows = held.weight.astype(np.float64)
    if not fitted.network.output.is_calibrated:
        sums = batched.log_scores(fitted, held.x, held.y) @ rows
    else:
        sums = calibration.log_likelihoods(POINTS, held.y, batched.predicted(fitted, held.x), rows)
    return np.append(sums, rows.sum())


def log_score(network: Network, scores: np.ndarray) -> float | None:
    """Mean log score of the rows, as wide as suits them best; None if there are none."""
    sums, rows = scores[:-1], float(scores[-1])
    if not rows > 0:
        return None
    if not network.output.is_calibrated:
        return float(sums.sum()) / rows
    each = sums.reshape(-1, len(POINTS))
    best = np.argmax(each + calibration.log_prior(POINTS), 1)
    return float(each[np.arange(len(each)), best].sum()) / rows


def calibrated(scores: np.ndarray) -> Calibration:
    """The most probable calibration of a regression, given the sums of all its clients."""
    each = scores[:-1].reshape(-1, len(POINTS)) + calibration.log_prior(POINTS)
    return calibration.calibration_at([_peak(values.reshape(SHAPE)) for values in each])


def uncalibrated(known: np.ndarray) -> Calibration:
    """The calibration without rows held out: it stretches nothing; `known` rows determine the noise (`held_out`)."""
    one = np.ones(len(known))
    return Calibration(one, one, LEAST_DOF + known)


def _peak(values: np.ndarray) -> np.ndarray:
    """The place, between the nodes, where a smooth function on the grid is largest."""
    spline = RegularGridInterpolator(AXES, values, method="cubic")
    low, high = (np.array([axis[end] for axis in AXES]) for end in (0, -1))
    start = POINTS[np.argmax(values)]
    return minimize(lambda point: -spline(point)[0], start, method="Nelder-Mead", bounds=Bounds(low, high)).x
