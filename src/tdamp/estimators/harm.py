"""The warning of a fit whose pruning cost more than chance explains."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from ..engine.prune import between
from ..training.pruning_loss import PruningLoss

MOST_NAMES = 8
"""Columns that a warning names."""


def harm(estimator: Any, loss: PruningLoss) -> str:
    """What was lost, which columns went, and how far nothing was lost."""
    left, total = estimator.n_groups_
    measure = "accuracy" if estimator.network_.output.has_classes else "R2"
    accuracy, log_score = loss.accuracy, loss.log_score
    lost = (
        f"pruning to {left} of {total} groups costs {accuracy.mean:.3f} of {measure} on rows that were not trained on "
        f"(from {loss.accuracy_before:.3f} to {loss.accuracy_after:.3f}, standard error {accuracy.std_error:.3f}) and "
        f"{log_score.mean:.3f} nats of log score a row (standard error {log_score.std_error:.3f})."
    )
    return f"{lost} {_columns(estimator)}{_harmless(loss, left, total)}".rstrip(". ")


def _columns(estimator: Any) -> str:
    gone = np.setdiff1d(np.arange(estimator.network_.widths[0]), estimator.fitted_.inputs)
    if not len(gone):
        return ""
    names = getattr(estimator, "feature_names_in_", None)
    words = [str(column if names is None else names[column]) for column in gone[:MOST_NAMES]]
    more = f" and {len(gone) - MOST_NAMES} more" if len(gone) > MOST_NAMES else ""
    return f"Columns that went: {', '.join(words)}{more}. "


def _harmless(loss: PruningLoss, left: int, total: int) -> str:
    harmless = between(total, left, loss.harmless)
    if harmless <= left:
        return ""
    return f"No loss was seen down to {harmless} groups, keep={ceil(100 * harmless / total) / 100:g}. "
