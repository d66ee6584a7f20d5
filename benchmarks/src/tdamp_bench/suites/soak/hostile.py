"""Hostile data: rows with a few of the things at once that break arithmetic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tdamp.engine.network import Task

OUTLIER = 1e8
"""Standard deviations by which an outlier is off."""
SCALES = 12
"""Columns have scales of 1e-12 to 1e12 for the estimators, which bring them to one."""
RAW_SCALES = 3, 6
"""For the engine, which does not: 1e-3 to 1e3 column by column, times 1e-6 to 1e6 for all."""
WEIGHTS = 5
"""Sample weights of 1e-5 to 1e5."""

INPUT_TRICKS = ("scales", "offset", "cauchy", "duplicates", "constant", "collinear", "outlier", "one_hot", "few_rows")
TARGET_TRICKS = {
    "regression": ("y_scale", "y_cauchy", "y_outlier", "y_constant", "y_nearly_constant", "y_exact"),
    "classification": ("rare_classes", "label_noise", "separable"),
}
MANY = 64
"""So many rows are never cut to a few: another shape would be compiled."""
TRICK_PROB = 0.25
WEIGHT_PROB = 0.25


class Rows(NamedTuple):
    """A table, float64, and what was done to it."""

    x: np.ndarray
    y: np.ndarray  # (rows, targets), or labels 0..classes - 1, each there
    weight: np.ndarray | None
    tricks: tuple[str, ...]


def draw(rng: np.random.Generator, task: Task, rows: int, n_in: int, n_out: int, raw: bool) -> Rows:
    """A linear function of Gaussian inputs, or labels by it, and each trick with a probability; `raw` for the engine.

    `few_rows` leaves four, and as many as there are classes.
    """
    chosen = tuple(trick for trick in (*INPUT_TRICKS, *TARGET_TRICKS[task]) if rng.random() < TRICK_PROB)
    if "few_rows" in chosen and rows < MANY:
        rows = 4
    rows = max(rows, 2 * n_out if task == "classification" else 2)
    x = _inputs(rng, rows, n_in, chosen, raw)
    unit = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)
    signal = unit @ rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)
    y = _targets(rng, signal, chosen, raw) if task == "regression" else _labels(rng, signal, chosen)
    weight = 10.0 ** rng.uniform(-WEIGHTS, WEIGHTS, rows) if rng.random() < WEIGHT_PROB else None
    return Rows(x, y, weight, (*chosen, *(() if weight is None else ("weights",))))


def _inputs(rng: np.random.Generator, rows: int, n_in: int, chosen: tuple[str, ...], raw: bool) -> np.ndarray:
    x = rng.standard_normal((rows, n_in))
    column = int(rng.integers(n_in))
    if "cauchy" in chosen:
        x = rng.standard_cauchy((rows, n_in))
    if "one_hot" in chosen:
        x = np.eye(n_in)[rng.integers(0, n_in, rows)]
    if "collinear" in chosen:
        x[:, column] = x[:, : max(1, n_in // 2)].sum(1)
    if "constant" in chosen:
        x[:, column] = rng.standard_normal()
    if "outlier" in chosen:
        x[rng.integers(rows), rng.integers(n_in)] = OUTLIER
    if "offset" in chosen:
        x += (1e2 if raw else 1e6) * rng.standard_normal(n_in)
    if "scales" in chosen:
        across, over = RAW_SCALES if raw else (SCALES, 0)
        x *= 10.0 ** (rng.uniform(-across, across, n_in) + rng.uniform(-over, over))
    if "duplicates" in chosen:
        x[rows // 2 :] = x[0]
    return x


def _targets(rng: np.random.Generator, signal: np.ndarray, chosen: tuple[str, ...], raw: bool) -> np.ndarray:
    y = signal + rng.choice([0.0, 0.1, 1.0]) * rng.standard_normal(signal.shape)
    if "y_exact" in chosen:
        y = signal.copy()
    if "y_cauchy" in chosen:
        y = rng.standard_cauchy(signal.shape)
    if "y_outlier" in chosen:
        y[rng.integers(len(y)), 0] = OUTLIER
    if "y_constant" in chosen:
        y[:, 0] = rng.choice([0.0, 1.0, 1e6])
    if "y_nearly_constant" in chosen:
        y[:, 0] = 1.0
        y[0, 0] = 1.0 + 1e-6
    if "y_scale" in chosen:
        most = RAW_SCALES[1] if raw else SCALES
        y = y * 10.0 ** rng.uniform(-most, most)
    return y


def _labels(rng: np.random.Generator, signal: np.ndarray, chosen: tuple[str, ...]) -> np.ndarray:
    rows, classes = signal.shape
    noise = 0.0 if "separable" in chosen else 0.5
    y = (signal + noise * rng.standard_normal(signal.shape)).argmax(1)
    if "rare_classes" in chosen:
        y[:] = 0
    if "label_noise" in chosen:
        wrong = np.flatnonzero(rng.random(rows) < 0.4)
        y[wrong] = rng.integers(0, classes, len(wrong))
    y[rng.permutation(rows)[:classes]] = np.arange(classes)  # every class is there
    return y.astype(np.int32)
