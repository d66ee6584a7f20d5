"""A Gaussian process by scikit-learn: y = f(x) + noise, with an RBF kernel that has a length for every input.

k(a, b) = c exp(-sum_k (a_k - b_k)^2 / (2 l_k^2)) + s [a is b]. The variances c and s and the lengths l maximise the
marginal likelihood of all training rows; nothing else is tuned. There is one climb, which begins with much noise: on
wine, where many rows are there twice and targets are whole numbers, another begun with little ends where twins are
interpolated without noise, which has more evidence, a log density without bound, and a larger error.
scikit-learn's own gradient keeps (rows, rows, inputs) arrays, so the climb uses the formulas below, which need
(rows, rows) ones alone. Oracle: scikit-learn's `log_marginal_likelihood`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from ...suites.uci.tasks import Answer, Gaussian, Task

JITTER = 1e-10
"""Added to the diagonal, as scikit-learn does."""
START_NOISE_VAR = 0.1
CLIMB = 100
"""Steps of L-BFGS, at most."""
IMPOSSIBLE = 1e25
"""Minus the log likelihood where the matrix is not positive definite: L-BFGS steps back from it."""


def kernel(inputs: int) -> Any:
    """scikit-learn's object, as the climb begins: the sum over inputs in the exponent is of order one."""
    smooth = RBF(np.full(inputs, np.sqrt(inputs)), (1e-2, 1e4))
    return ConstantKernel(1.0, (1e-3, 1e4)) * smooth + WhiteKernel(START_NOISE_VAR, (1e-6, 1e1))


def predict(tasks: Sequence[Task], quick: bool = False) -> Iterator[Answer]:
    """One fit a task, on one thread: more of them wait for each other on matrices of this size."""
    for task in tasks:
        started = time.perf_counter()
        with threadpool_limits(1):
            x, y = task.x.astype(np.float64), task.y.astype(np.float64)
            climb = climber(x, y, 3 if quick else CLIMB)
            process = GaussianProcessRegressor(kernel(x.shape[1]), alpha=JITTER, optimizer=climb).fit(x, y)
            mean, std = process.predict(task.x_test.astype(np.float64), return_std=True)
        variance, *_, noise_var = np.exp(process.kernel_.theta)
        chosen = {"variance": float(variance), "noise_var": float(noise_var)}
        yield Answer(Gaussian(mean, std), time.perf_counter() - started, chosen)


def climber(x: np.ndarray, y: np.ndarray, steps: int) -> Callable[..., tuple[np.ndarray, float]]:
    """An optimizer as scikit-learn wants it, which has an objective of its own."""

    def climb(_: Any, initial_theta: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, float]:
        options = {"maxiter": steps}
        end = minimize(negative_evidence, initial_theta, (x, y), "L-BFGS-B", True, bounds=bounds, options=options)
        return end.x, end.fun

    return climb


def negative_evidence(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """-log N(y; 0, K) and its gradient by theta, the logs of c, l and s.

    With W = K^-1 y y' K^-1 - K^-1 and A = W * c R, R the correlations: the gradient of the log evidence is half of
    sum A for c, s tr W for s, and 2 (sum_i (A 1)_i x_ik^2 - x_k' A x_k) / l_k^2 for l_k.
    """
    constant, lengths, noise_var = np.exp(theta[0]), np.exp(theta[1:-1]), np.exp(theta[-1])
    scaled = x / lengths
    norms = np.square(scaled).sum(1)
    smooth = constant * np.exp(np.minimum(scaled @ scaled.T - 0.5 * (norms[:, None] + norms), 0.0))
    try:
        lower = cholesky(smooth + (noise_var + JITTER) * np.eye(len(y)), lower=True)
    except LinAlgError:
        return IMPOSSIBLE, np.zeros_like(theta)
    weights = cho_solve((lower, True), y)
    value = 0.5 * y @ weights + np.log(np.diag(lower)).sum() + 0.5 * len(y) * np.log(2 * np.pi)
    inverse = np.tril(dpotri(lower, lower=1)[0])
    inverse = inverse + np.tril(inverse, -1).T
    pull = np.outer(weights, weights) - inverse
    a = pull * smooth
    by_length = a.sum(1) @ np.square(scaled) - (scaled * (a @ scaled)).sum(0)
    gradient = np.array([0.5 * a.sum(), *by_length, 0.5 * noise_var * np.trace(pull)])
    return float(value), -gradient
