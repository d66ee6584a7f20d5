"""Draws the README's picture: error bars that grow outside the data, and error against size on digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from tdamp import TDAMPClassifier, TDAMPRegressor, sparsity_path


def main() -> None:
    """Write readme.png beside this file."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-4, -1.2, 120), rng.uniform(1.0, 3.5, 120)])[:, None]
    y = np.sin(1.5 * x[:, 0]) + 0.1 * rng.normal(size=240)
    model = TDAMPRegressor(random_state=0).fit(x, y)
    grid = np.linspace(-5, 5, 200)[:, None]
    found = model.predict_distribution(grid)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for width, alpha in ((2, 0.15), (1, 0.25)):
        band = found.mean - width * found.std, found.mean + width * found.std
        left.fill_between(grid[:, 0], *band, color="tab:blue", alpha=alpha, linewidth=0)
    left.plot(grid, found.mean, color="tab:blue")
    left.plot(x, y, ".", color="black", markersize=3)
    left.set(title="one fit: mean, one and two standard deviations", xlabel="x", ylabel="y", ylim=(-3, 3))

    X, labels = load_digits(return_X_y=True)
    estimator = TDAMPClassifier((48,), standardize=False, random_state=0)
    path = sparsity_path(estimator, X / 16, labels, (1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.15))
    right.plot(path.frame["units"], 100 * path.frame["error"], "o-", color="tab:orange")
    right.set(
        title="digits: error against units kept (of 112)", xlabel="inputs and hidden units", ylabel="test error, %"
    )
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(Path(__file__).with_name("readme.png"), dpi=110)
    print(path)


if __name__ == "__main__":
    main()
