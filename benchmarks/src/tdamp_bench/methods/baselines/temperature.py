"""Temperature scaling: one number, fitted on rows that were not trained on, makes a network less or more sure.

softmax(scores / T), T = argmin of the negative log-likelihood. Guo et al., 2017. The likeliest class stays the same.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from ...core.scoring import nll
from .adam import softmax

LOG_RANGE = (-4.0, 4.0)
"""Of log T: a network that asks for more has not been trained."""


def scaled(scores: np.ndarray, temperature: float) -> np.ndarray:
    """softmax(scores / temperature), in float64."""
    return softmax(np.asarray(scores, np.float64) / temperature)


def fit_temperature(scores: np.ndarray, y: np.ndarray) -> float:
    """The temperature of least NLL. It is convex in 1 / T, so its only minimum is found. Oracle: a grid."""
    minimum = minimize_scalar(lambda log_t: nll(scaled(scores, np.exp(log_t)), y), bounds=LOG_RANGE, method="bounded")
    return float(np.exp(minimum.x))
