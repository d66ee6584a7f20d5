"""From finished runs to tidy tables: one row per data set, curve, share, epoch and seed; then means and errors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from .plan import Cell

COLUMNS = ["data", "method", "keep", "epoch", "seed", "loss", "units"]
POINT = ["data", "method", "keep", "epoch"]
"""What runs are averaged over seeds by."""


def table(cells: Iterable[Cell], value: str = "loss") -> pd.DataFrame:
    """All runs; column `method` is the curve's name. Another `value` takes that list of `Done.extra` as the loss."""
    rows = []
    for cell in cells:
        for run in cell.runs:
            curve = run.loss if value == "loss" else run.extra.get(value, [])
            first = run.key.epochs - len(curve) + 1
            for epoch, loss in enumerate(curve, start=first):
                rows.append((cell.data, cell.curve.title, cell.keep, epoch, run.key.seed, loss, run.units))
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard error of the mean, and number of runs of every point, in the order of the runs.

    The error of a single run is not known: NaN. Where a run is infinite, so is the mean, and the error is NaN.
    """
    rows = []
    for point, group in runs.groupby(POINT, sort=False):
        loss = group["loss"].to_numpy(float)
        known = len(loss) > 1 and np.isfinite(loss).all()
        se = loss.std(ddof=1) / np.sqrt(len(loss)) if known else np.nan
        rows.append((*point, loss.mean(), se, len(loss), group["units"].mean()))
    return pd.DataFrame(rows, columns=[*POINT, "mean", "se", "n", "units"])


def final(points: pd.DataFrame) -> pd.DataFrame:
    """The last epoch of every curve."""
    last = points.groupby(["data", "method", "keep"])["epoch"].transform("max")
    return points[points["epoch"] == last]


def pick(points: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows with these values: `pick(points, data="mnist", method="adam")`."""
    for column, value in values.items():
        points = points[points[column] == value]
    return points


def save(points: pd.DataFrame, path: Path) -> None:
    """As CSV, six significant digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    points.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
