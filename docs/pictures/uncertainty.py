"""Draws the pictures of the page on uncertainty: a gap in the data, coverage on a table, noise that varies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

from tdamp import TDAMPRegressor, metrics

HERE = Path(__file__).parent
NOISE = 0.2
SIDES = ((-4, -1.2), (1.0, 3.5))
"""Of the sine with a gap: the noise, and where there are rows."""
LEVELS = np.linspace(0.05, 0.95, 19)
TAIL = 0.99
"""The last level of the coverage curve."""


def main() -> None:
    """Write the three pictures beside this file."""
    save(gap(), "uncertainty-gap.png")
    save(varying(), "uncertainty-varying.png")
    save(coverage(), "uncertainty-coverage.png")


def gap() -> Figure:
    """A sine with noise, without rows in the middle: both parts, and the 95 % interval."""
    rng = np.random.default_rng(0)
    x, y = two_sides(rng, 100)
    grid = np.linspace(-6, 6, 300)[:, None]
    model = TDAMPRegressor(random_state=0).fit(x, y)
    found, (low, high) = model.predict_distribution(grid), model.predict_interval(grid).T
    figure, (left, right) = panels()
    left.fill_between(grid[:, 0], low, high, color="tab:blue", alpha=0.2, linewidth=0, label="95 % interval")
    left.plot(grid, found.mean, color="tab:blue", label="mean")
    left.plot(grid, np.sin(1.5 * grid[:, 0]), "k:", linewidth=1, label="truth")
    left.plot(x, y, ".", color="black", markersize=3)
    left.set(title="200 rows, none in the middle", xlabel="x", ylabel="y", ylim=(-3.5, 3.5))
    right.plot(grid, found.epistemic_std, color="tab:orange", label="epistemic")
    right.plot(grid, found.aleatoric_std, color="tab:green", label="aleatoric")
    right.plot(grid, np.abs(found.mean - np.sin(1.5 * grid[:, 0])), "k:", linewidth=1, label="true error of the mean")
    right.axhline(NOISE, color="tab:green", linestyle=":", linewidth=1, label="true noise")
    right.set(title="the parts of the standard deviation", xlabel="x", ylim=(0, 1.0))
    for side in SIDES:
        right.axvspan(*side, color="black", alpha=0.06, linewidth=0)
    new_x, new_y = two_sides(rng, 10_000)
    low, high = model.predict_interval(new_x).T
    print(f"gap: noise {found.aleatoric_std[0]:.3f}, new rows covered {np.mean((low <= new_y) & (new_y <= high)):.3f}")
    return figure


def two_sides(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """`n` rows of the sine on each side of the gap."""
    x = np.concatenate([rng.uniform(low, high, n) for low, high in SIDES])[:, None]
    return x, np.sin(1.5 * x[:, 0]) + NOISE * rng.normal(size=2 * n)


def varying() -> Figure:
    """Noise that grows with x, learned as constant and as varying."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, (400, 1))
    y = np.sin(2 * x[:, 0]) + spread(x[:, 0]) * rng.normal(size=400)
    grid = np.linspace(0, 4, 200)[:, None]
    figure, axes = panels()
    for noise, axis in zip(("constant", "varying"), axes, strict=True):
        model = TDAMPRegressor(noise=noise, random_state=0).fit(x, y)
        low, high = model.predict_interval(grid).T
        axis.fill_between(grid[:, 0], low, high, color="tab:blue", alpha=0.2, linewidth=0, label="95 % interval")
        for sign, label in ((-1, "true 95 % band"), (1, None)):
            true = np.sin(2 * grid[:, 0]) + sign * 1.96 * spread(grid[:, 0])
            axis.plot(grid, true, "k:", linewidth=1, label=label)
        axis.plot(grid, model.predict(grid), color="tab:blue", label="mean")
        axis.plot(x, y, ".", color="black", markersize=2)
        axis.set(title=f'noise="{noise}"', xlabel="x", ylabel="y", ylim=(-4, 4))
    return figure


def spread(x: np.ndarray) -> np.ndarray:
    """Standard deviation of the noise of `varying`."""
    return 0.05 + 0.25 * x


def coverage() -> Figure:
    """Diabetes: every row predicted once by a network that was not trained on it, with calibration and without."""
    X, y = load_diabetes(return_X_y=True)
    figure, (left, right) = panels()
    for early, label, color in (("auto", "calibrated", "tab:blue"), (False, "no rows kept back", "tab:orange")):
        mean, std, dof = crossed(X, y, early)
        levels = np.append(LEVELS, TAIL)
        left.plot(levels, [metrics.coverage(y, mean, std, level, dof) for level in levels], color=color, label=label)
        heights = metrics.pit_histogram(metrics.pit(y, mean, std, dof))
        right.stairs(heights, np.linspace(0, 1, 11), color=color, label=label, linewidth=1.5)
        print(label, {level: round(metrics.coverage(y, mean, std, level, dof), 3) for level in (0.5, 0.9, 0.95)})
        print(
            label, "log score", round(metrics.log_score(y, mean, std, dof), 3), "RMSE", round(metrics.rmse(y, mean), 1)
        )
    error = 2 * np.sqrt(LEVELS * (1 - LEVELS) / len(y))
    left.fill_between(LEVELS, LEVELS - error, LEVELS + error, color="black", alpha=0.1, linewidth=0, label="by chance")
    left.plot([0, 1], [0, 1], "k:", linewidth=1)
    left.set(title="diabetes: intervals of test rows", xlabel="level asked for", ylabel="share that holds the truth")
    right.axhline(1, color="black", linestyle=":", linewidth=1)
    right.set(title="where the truth fell (PIT): flat is right", xlabel="PIT", ylabel="density", ylim=(0, 2.5))
    return figure


def crossed(X: np.ndarray, y: np.ndarray, early_stopping: Any) -> np.ndarray:
    """Mean, standard deviation and dof of every row, by five networks with one hidden layer."""
    found = np.empty((3, len(y)))
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = TDAMPRegressor((50,), early_stopping=early_stopping, random_state=0).fit(X[train], y[train])
        parts = model.predict_distribution(X[test])
        found[:, test] = parts.mean, parts.std, parts.dof
    return found


def panels() -> tuple[Figure, Any]:
    """Two, side by side."""
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    return figure, figure.subplots(1, 2)


def save(figure: Figure, name: str) -> None:
    """With grids and legends."""
    for axes in figure.axes:
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper left")
    figure.savefig(HERE / name, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
