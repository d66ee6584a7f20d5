"""Scores of predictions that come with their uncertainty. Each function has its formula in its docstring.

Arrays are checked (shapes, finite, standard deviations positive, probabilities that sum to one) and ValueError says
what was wrong. Sums run in float64. A mean over entries is over rows and, for several outputs, over outputs too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from .numerics import student_t

LEAST_PROB = float(np.finfo(np.float32).tiny)
"""A true class of probability 0 scores the log of this instead of minus infinity: rounding alone can cause it."""

SUM_TOLERANCE = 1e-3
"""Class probabilities may miss a sum of one by this much: they may come in half precision, or out of a text file."""


class Bins(NamedTuple):
    """Rows sorted into bins by the probability of their likeliest class; NaN where a bin is empty."""

    rows: np.ndarray
    confidence: np.ndarray  # mean probability of the likeliest class
    accuracy: np.ndarray  # share of rows where that class is right


def rmse(y: ArrayLike, mean: ArrayLike) -> float:
    """sqrt(mean of (y - mean)^2)."""
    y, mean, _ = _gaussian(y, mean, np.ones(np.shape(y)))
    return float(np.sqrt(np.mean(np.square(y - mean))))


def log_score(y: ArrayLike, mean: ArrayLike, std: ArrayLike, dof: ArrayLike | None = None) -> float:
    """Mean over entries of log density at y, in nats; higher is better.

    Here and below: of N(mean, std^2), or of Student's t with this mean and standard deviation if `dof` are given.
    """
    y, mean, std = _gaussian(y, mean, std)
    return float(np.mean(student_t.log_density(y, mean, std, _dof(dof))))


def pit(y: ArrayLike, mean: ArrayLike, std: ArrayLike, dof: ArrayLike | None = None) -> np.ndarray:
    """F((y - mean) / std), the probability integral transform: uniform on [0, 1] if the prediction is calibrated."""
    y, mean, std = _gaussian(y, mean, std)
    return student_t.cdf((y - mean) / std, _dof(dof))


def coverage(y: ArrayLike, mean: ArrayLike, std: ArrayLike, level: float, dof: ArrayLike | None = None) -> float:
    """Share of entries with |y - mean| <= std F^-1((1 + level) / 2), the central interval of probability `level`."""
    y, mean, std = _gaussian(y, mean, std)
    return float(np.mean(np.abs(y - mean) <= std * _reach(level, dof)))


def interval_width(std: ArrayLike, level: float, dof: ArrayLike | None = None) -> float:
    """Mean over entries of 2 std F^-1((1 + level) / 2): of predictions that cover alike, the narrowest is best."""
    _, _, std = _gaussian(std, std, std)
    return float(np.mean(2 * _reach(level, dof) * std))


def pit_histogram(values: ArrayLike, bins: int = 10) -> np.ndarray:
    """Share of `pit` values in equal bins of [0, 1], times `bins`: all near one if the prediction is calibrated.

    High ends: too sure of itself; a high middle: not sure enough; a slope: biased.
    """
    _check_bins(bins)
    values = _finite("values", values)
    if values.min() < 0 or values.max() > 1:
        raise ValueError(f"values from {values.min():g} to {values.max():g}: expected numbers in [0, 1], as of pit")
    return np.histogram(values, bins, (0, 1))[0] * (bins / values.size)


def crps(y: ArrayLike, mean: ArrayLike, std: ArrayLike, dof: ArrayLike | None = None) -> float:
    """Mean over entries of the integral of (F(t) - [t >= y])^2 dt, F the prediction's distribution function.

    In closed form (`numerics/student_t`); in the units of y, and |y - mean| when std goes to zero; lower is better.
    """
    y, mean, std = _gaussian(y, mean, std)
    return float(np.mean(std * student_t.crps((y - mean) / std, _dof(dof))))


def error_rate(y: ArrayLike, probs: ArrayLike) -> float:
    """Share of rows whose likeliest class is not y."""
    y, probs = _classes(y, probs)
    return float(np.mean(probs.argmax(1) != y))


def class_log_score(y: ArrayLike, probs: ArrayLike) -> float:
    """Mean over rows of log probs[row, y], in nats, each at least log LEAST_PROB; higher is better."""
    y, probs = _classes(y, probs)
    return float(np.mean(np.log(np.maximum(probs[np.arange(len(y)), y], LEAST_PROB))))


def brier(y: ArrayLike, probs: ArrayLike) -> float:
    """Mean over rows of the sum over classes of (probs - [class is y])^2, between 0 and 2; lower is better."""
    y, probs = _classes(y, probs)
    return float(np.mean(np.square(probs - np.eye(probs.shape[1])[y]).sum(1)))


def reliability(y: ArrayLike, probs: ArrayLike, bins: int = 15) -> Bins:
    """Count, mean confidence and accuracy in equal bins ((k - 1) / bins, k / bins] of the largest probability."""
    _check_bins(bins)
    y, probs = _classes(y, probs)
    confidence = probs.max(1)
    at = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    count = np.bincount(at, minlength=bins)
    filled = np.where(count > 0, count, np.nan)
    right = (probs.argmax(1) == y).astype(float)
    return Bins(count, np.bincount(at, confidence, bins) / filled, np.bincount(at, right, bins) / filled)


def ece(y: ArrayLike, probs: ArrayLike, bins: int = 15) -> float:
    """Expected calibration error: sum over bins of count / rows |accuracy - confidence|, bins as in `reliability`."""
    binned = reliability(y, probs, bins)
    return float(np.nansum(binned.rows * np.abs(binned.accuracy - binned.confidence)) / binned.rows.sum())


def adaptive_ece(y: ArrayLike, probs: ArrayLike, bins: int = 15) -> float:
    """Calibration error in bins of equally many rows, sorted by confidence: nearly empty bins say nothing."""
    _check_bins(bins)
    y, probs = _classes(y, probs)
    order = np.argsort(probs.max(1), kind="stable")
    over = (probs.max(1) - (probs.argmax(1) == y))[order]
    return float(sum(abs(part.sum()) for part in np.array_split(over, bins)) / len(y))


def aurc(loss: ArrayLike, uncertainty: ArrayLike) -> float:
    """Area under the risk-coverage curve: the mean over k of the mean loss of the k rows of least uncertainty.

    Rows of one uncertainty share their mean loss, so that their order does not matter. Lower is better; an uncertainty
    that tells nothing scores the mean loss.
    """
    loss, uncertainty = _pair(loss, uncertainty)
    _, which, count = np.unique(uncertainty, return_inverse=True, return_counts=True)
    shared = (np.bincount(which, loss) / count)[np.sort(which)]
    return float(np.mean(np.cumsum(shared) / np.arange(1, len(loss) + 1)))


def ood_auroc(inside: ArrayLike, outside: ArrayLike) -> float:
    """Probability that a row from `outside` is more uncertain than one from `inside`, a tie counting half.

    1: uncertainty tells the two apart, 0.5: it does not.
    """
    inside, outside = _finite("inside", inside).ravel(), _finite("outside", outside).ravel()
    ranks = rankdata(np.concatenate([outside, inside]))[: len(outside)]
    return float((ranks.mean() - 0.5 * (len(outside) + 1)) / len(inside))


def _dof(dof: ArrayLike | None) -> np.ndarray:
    if dof is None:
        return np.array(np.inf)
    dof = np.asarray(dof, np.float64)
    if not (dof > 2).all():  # nor a NaN
        raise ValueError("dof: expected numbers above 2 (a smaller one has no variance); infinity is a Gaussian")
    return dof


def _reach(level: float, dof: ArrayLike | None) -> np.ndarray:
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: expected a number between 0 and 1, such as 0.95")
    return student_t.quantile(0.5 + 0.5 * level, _dof(dof))


def _check_bins(bins: int) -> None:
    if bins < 1:
        raise ValueError(f"bins={bins}: expected a whole number of at least 1")


def _finite(name: str, values: ArrayLike) -> np.ndarray:
    values = np.asarray(values, np.float64)
    if not values.size or not np.isfinite(values).all():
        raise ValueError(f"{name}: expected finite numbers, at least one")
    return values


def _pair(loss: ArrayLike, uncertainty: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    loss, uncertainty = _finite("loss", loss), _finite("uncertainty", uncertainty)
    if loss.ndim != 1 or loss.shape != uncertainty.shape:
        raise ValueError(f"loss {loss.shape} and uncertainty {uncertainty.shape}: expected (rows,) both")
    return loss, uncertainty


def _gaussian(y: ArrayLike, mean: ArrayLike, std: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three as float64 of one shape, (rows,) or (rows, outputs)."""
    named = {name: np.asarray(a, np.float64) for name, a in (("y", y), ("mean", mean), ("std", std))}
    shapes = {name: a.shape for name, a in named.items()}
    if len(set(shapes.values())) > 1 or named["y"].ndim not in (1, 2) or not named["y"].size:
        raise ValueError(f"shapes {shapes}: expected one shape, (rows,) or (rows, outputs), with at least one row")
    for name, a in named.items():
        if not np.isfinite(a).all():
            raise ValueError(f"{name} has {int((~np.isfinite(a)).sum())} entries that are not finite")
    if not (named["std"] > 0).all():
        raise ValueError(f"std has entries of {named['std'].min():g}: expected standard deviations above 0")
    return named["y"], named["mean"], named["std"]


def _classes(y: ArrayLike, probs: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Class indices (rows,) as integers and probabilities (rows, classes) as float64."""
    y, probs = np.asarray(y), np.asarray(probs, np.float64)
    if probs.ndim != 2 or y.shape != probs.shape[:1] or not probs.size:
        raise ValueError(f"y {y.shape} and probs {probs.shape}: expected (rows,) and (rows, classes), at least one row")
    if not np.isfinite(probs).all() or probs.min() < 0 or np.abs(probs.sum(1) - 1).max() > SUM_TOLERANCE:
        raise ValueError("probs: expected rows of finite numbers of at least 0 that sum to 1")
    if not np.issubdtype(y.dtype, np.integer) or y.min() < 0 or y.max() >= probs.shape[1]:
        raise ValueError(f"y: expected class indices, whole numbers from 0 to {probs.shape[1] - 1}")
    return y, probs
