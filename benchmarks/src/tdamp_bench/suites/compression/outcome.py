"""What is kept of a compressed model: its loss and log score on the test rows, and how large it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import r2_score

from tdamp import metrics
from tdamp.engine.network import n_multiply_adds, n_params

from ...core.jobs import Run
from ...core.problems import Problem

FLOAT = 4
"""Bytes of a number."""
SIZES = "params", "multiply_adds", "bytes"
EXTRA = "nll", *SIZES, "widths"
"""Lists of `Run.extra`; the widths are those of the layers that are left, inputs and outputs included."""
LEAST_VAR = 1e-6
"""Of a regression's noise; targets have variance one."""


class Size(NamedTuple):
    """Of a model; trees have no widths and no multiply-adds."""

    params: int
    multiply_adds: int
    bytes: int
    widths: tuple[int, ...] = ()


def network_size(widths: Sequence[int], numbers: int = 1) -> Size:
    """Of a fully connected network with so many float32 for each weight and bias."""
    widths = tuple(int(width) for width in widths)
    params = n_params(widths)
    return Size(params, n_multiply_adds(widths), FLOAT * numbers * params, widths)


def of_classes(problem: Problem, probs: np.ndarray, size: Size) -> Run:
    """Error rate and NLL of class probabilities."""
    y = problem.y_test
    if not np.isfinite(probs).all():
        return _run(np.inf, np.inf, size)
    return _run(metrics.error_rate(y, probs), -metrics.class_log_score(y, probs), size)


def of_means(problem: Problem, means: np.ndarray, nll: float, size: Size) -> Run:
    """1 - R2 of the predicted means of a regression with one target, and an NLL."""
    if not np.isfinite(means).all():
        return _run(np.inf, np.inf, size)
    return _run(1 - r2_score(problem.y_test[:, 0], means), nll, size)


def gaussian_nll(problem: Problem, means: np.ndarray, noise_var: float) -> float:
    """Of N(mean, noise_var): for methods that predict no variance, one that held-out rows have shown."""
    if not np.isfinite(means).all():
        return float("inf")
    std = np.full(len(means), np.sqrt(max(noise_var, LEAST_VAR)))
    return -metrics.log_score(problem.y_test[:, 0], means, std)


def _run(loss: float, nll: float, size: Size) -> Run:
    extra = {"nll": [nll], **{name: [float(getattr(size, name))] for name in SIZES}}
    return Run([float(loss)], sum(size.widths[:-1]), extra | {"widths": [float(width) for width in size.widths]})
