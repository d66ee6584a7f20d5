"""Summaries that clients send before the first round: row counts, means and spreads, for scales that all share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..engine.state import ROUNDING, Scales
from ..numerics.scaling import identity_scales, input_scale, mean_and_std, nonzero_share, std_or_one
from .aggregation.base import shares_of, weighted_sum


class Summary(NamedTuple):
    """Moments of a client's rows, in the units of the table; y of a classification has no numbers.

    `x_nonzero` is the share of the rows in which a column is not zero.
    """

    n_rows: np.ndarray
    x_mean: np.ndarray
    x_std: np.ndarray
    y_mean: np.ndarray
    y_std: np.ndarray
    x_nonzero: np.ndarray


def summary_of(x: np.ndarray, y: np.ndarray | None, weight: np.ndarray) -> Summary:
    """The summary of rows as they are; y is (rows, outputs), or None for a classification."""
    nothing = np.zeros(0)
    x_mean, x_std = mean_and_std(x, weight)
    y_mean, y_std = (nothing, nothing) if y is None else mean_and_std(y, weight)
    return Summary(np.asarray(weight.sum(dtype=np.float64)), x_mean, x_std, y_mean, y_std, nonzero_share(x, weight))


def merged(summaries: Sequence[Summary]) -> Summary:
    """The summary of all rows together; one client's own summary comes back as it was.

    Squares of huge or tiny numbers would be infinite or zero: standard deviations come together by `np.hypot`, as in
    `sources.running_scales`.
    """
    for name, what in (("x_mean", "columns"), ("y_mean", "outputs")):
        counts = [len(getattr(summary, name)) for summary in summaries]
        if len(set(counts)) > 1:
            raise ValueError(f"clients have different numbers of {what}, {counts}: give all the same table")
    shares = shares_of([float(summary.n_rows) for summary in summaries])
    total = weighted_sum([summary.n_rows for summary in summaries], [1.0] * len(summaries))
    parts = []
    for mean, std in (("x_mean", "x_std"), ("y_mean", "y_std")):
        means, stds = ([getattr(summary, name) for summary in summaries] for name in (mean, std))
        middle = weighted_sum(means, shares)
        spread = [np.hypot(s, m - middle) for m, s in zip(means, stds, strict=True)]
        parts += [middle, np.hypot.reduce([np.sqrt(share) * s for share, s in zip(shares, spread, strict=True)])]
    parts.append(weighted_sum([summary.x_nonzero for summary in summaries], shares))
    return Summary(total, *parts)


class Scaling(NamedTuple):
    """What is subtracted from inputs and outputs, and what they are divided by."""

    x_mean: np.ndarray
    x_scale: np.ndarray
    y_mean: np.ndarray
    y_scale: np.ndarray


def scaling_of(summary: Summary, standardize: bool, scales_targets: bool = True) -> Scaling:
    """The scales of a centralised fit (`numerics.scaling`), or none."""
    x_scales, y_scales = identity_scales(len(summary.x_mean)), identity_scales(len(summary.y_mean))
    if standardize:
        x_scales = summary.x_mean, input_scale(summary.x_mean, summary.x_std, summary.x_nonzero)
    if standardize and scales_targets:
        y_scales = summary.y_mean, std_or_one(summary.y_mean, summary.y_std)
    return Scaling(*x_scales, *y_scales)


def scales_after(summary: Summary, scaling: Scaling, n_outputs: int, scales_targets: bool = True) -> Scales:
    """What the engine's start has to know of the scaled data; what is constant counts as having variance one, and so
    do targets that are never scaled: their unit is none of the network's outputs'.

    A variance that is infinite or zero because of the unit is passed on as it is: `state.start` refuses it.
    """
    x_mean, x_std = (summary.x_mean - scaling.x_mean) / scaling.x_scale, summary.x_std / scaling.x_scale
    y_mean, y_std = (summary.y_mean - scaling.y_mean) / scaling.y_scale, summary.y_std / scaling.y_scale
    classification = not summary.y_mean.size
    return Scales(
        x_mean,
        float(_variance(np.hypot.reduce(x_std), np.hypot.reduce(x_mean))),
        np.zeros(n_outputs) if classification else y_mean,
        np.ones(()) if classification else _variance(y_std, y_mean) if scales_targets else np.ones_like(y_mean),
    )


def _variance(std: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The variance as `state.no_less_than_rounding` has it, without squares where they are compared."""
    with np.errstate(over="ignore", under="ignore"):
        return np.where(std > np.sqrt(ROUNDING) * np.abs(mean), np.square(std), 1.0)
