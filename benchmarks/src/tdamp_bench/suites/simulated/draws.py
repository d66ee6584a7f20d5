"""Data drawn from the model itself, and what a fit with defaults says of them.

y = f(x) + noise, f(x) = W_2 relu(W_1 x + b_1) + b_2, x standard normal. The weights are drawn from the prior that a
training starts from: N(0, 1/N) for a layer of N inputs, N(0, 1) for a bias. The noise's standard deviation is 0.1 to
0.5 of that of f, uniformly in the logarithm. f is known, so that the error of the predictive mean is, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tdamp import metrics
from tdamp.estimators import TDAMPRegressor

LEVEL = 0.95
STREAM = 1
"""Keeps a draw's numbers apart from those that a training with the same seed starts with."""


@dataclass(frozen=True)
class Plan:
    """Sizes. The hidden units of a draw are between the two numbers; the network that is fitted has as many."""

    draws: int = 200
    inputs: int = 8
    hidden: tuple[int, int] = (20, 50)
    rows: int = 300
    test_rows: int = 500
    noise: tuple[float, float] = (0.1, 0.5)
    max_epochs: int | str = "auto"


FULL = Plan()
QUICK = Plan(draws=2, inputs=3, hidden=(6, 8), rows=60, test_rows=50, max_epochs=3)
"""Checks that everything runs; its numbers and verdicts mean nothing."""


class Draw(NamedTuple):
    """Rows to learn from, test rows with the function's values there and with noise, and what was drawn."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    f_test: np.ndarray
    y_test: np.ndarray
    hidden: int
    signal_var: float  # of the function over all rows
    noise_var: float


def draw(seed: int, plan: Plan) -> Draw:
    """The same for the same seed."""
    rng = np.random.default_rng([STREAM, seed])
    hidden = int(rng.integers(plan.hidden[0], plan.hidden[1] + 1))
    noise = float(np.exp(rng.uniform(*np.log(plan.noise))))
    layers = [
        (rng.standard_normal((n_in, n_out)) / np.sqrt(n_in), rng.standard_normal(n_out))
        for n_in, n_out in ((plan.inputs, hidden), (hidden, 1))
    ]
    x = rng.standard_normal((plan.rows + plan.test_rows, plan.inputs))
    f = function(layers, x)
    y = f + noise * f.std() * rng.standard_normal(len(f))
    n, signal_var = plan.rows, float(f.var())
    return Draw(x[:n], y[:n], x[n:], f[n:], y[n:], hidden, signal_var, noise**2 * signal_var)


def function(layers: list[tuple[np.ndarray, np.ndarray]], x: np.ndarray) -> np.ndarray:
    """The network with these weights and biases, without noise, (rows,)."""
    (weight, bias), (last, last_bias) = layers
    return (np.maximum(x @ weight + bias, 0) @ last + last_bias)[:, 0]


def measure(seed: int, plan: Plan) -> dict[str, Any]:
    """Fit the draw with defaults. Variances and squared errors are means over test rows, in units of the function's
    variance, so that no draw counts for more than another."""
    data = draw(seed, plan)
    model = TDAMPRegressor((data.hidden,), max_epochs=plan.max_epochs, random_state=seed).fit(data.x, data.y)
    predicted = model.predict_distribution(data.x_test)
    unit = data.signal_var
    return {
        "hidden": data.hidden,
        "noise_var": data.noise_var / unit,
        "learned_noise_var": float(np.mean(predicted.aleatoric_std**2)) / unit,
        "epistemic_var": float(np.mean(predicted.epistemic_std**2)) / unit,
        "squared_error": float(np.mean((predicted.mean - data.f_test) ** 2)) / unit,
        "total_var": float(np.mean(predicted.std**2)) / unit,
        "total_error": float(np.mean((predicted.mean - data.y_test) ** 2)) / unit,
        "coverage": metrics.coverage(data.y_test, predicted.mean, predicted.std, LEVEL, predicted.dof),
        "epochs": model.n_iter_,
    }
