"""The warnings of a fit that pruned: it cost more than chance explains, or nothing says what it cost."""

from __future__ import annotations

import warnings
from math import ceil
from typing import Any

import numpy as np

from ..engine.prune import between, goal_units, n_groups, progress
from ..engine.settings import Settings
from ..selection.pruning import loses_units
from ..selection.refit import can_search
from ..training.data import check_groups
from ..training.outcome import Outcome, TrainingWarning, users_level
from ..training.pruning_loss import PruningLoss
from ..training.stored import Streamed
from .parameters import group_ids_of, is_auto
from .preprocess import Prepared

MOST_NAMES = 8
"""Columns that a warning names."""
LEAST_EPOCHS = 3
"""With fewer no epoch has all units (`stages.staged`)."""


def warn_of_pruning(estimator: Any, prepared: Prepared) -> None:
    """Warn where units went by the exact rule, and this cost more than chance explains, or no rows say what it cost."""
    settings, fitted = estimator.settings_, estimator.fitted_
    if not settings.prunes or settings.pruning == "paper" or fitted.outcome is Outcome.DIVERGED:
        return
    if prepared.start is not None and not loses_units(fitted, prepared.start):
        return
    left, total = estimator.n_groups_
    if left == total:
        return
    loss = fitted.pruning
    if loss is None:
        reason, remedy = _unjudged(estimator, prepared)
        warnings.warn(
            f"{left} of {total} groups are left, and no rows say what it cost that the others went: {reason}. "
            f"Use {remedy}, or compare the scores of rows of your own with those of a fit without a goal.",
            TrainingWarning,
            stacklevel=users_level(),
        )
    elif loss.hurts:
        warnings.warn(
            f"{harm(estimator, loss)}. Use a larger {goal_name(settings)}{_search(prepared)}.",
            TrainingWarning,
            stacklevel=users_level(),
        )


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
    return f"{lost} {_columns(estimator)}{_harmless(estimator, loss)}".rstrip(". ")


def goal_name(settings: Settings) -> str:
    """The parameter that says what is to remain."""
    return next((name for name in ("max_params", "max_multiply_adds") if getattr(settings, name) is not None), "keep")


def goal_at(estimator: Any, share: float) -> Any:
    """What was left after this share of the way from all units to the goal, as the goal was given: a fraction, a number
    of groups, fractions for the layers, parameters or multiply-adds. The schedule meets these counts exactly."""
    settings, network = estimator.settings_, estimator.network_
    width, name = network.widths[0], goal_name(settings)
    if name != "keep":
        return between(getattr(network, f"n_{name.removeprefix('max_')}"), getattr(settings, name), share)
    ids, keep = check_groups(group_ids_of(estimator, width), width), settings.keep
    counts = n_groups(network, ids, settings.prune_inputs)
    if isinstance(keep, tuple):
        goals = [max(1, round(part * count)) for part, count in zip(keep, counts, strict=True)]
        return tuple(_fraction(between(n, goal, share), n) for n, goal in zip(counts, goals, strict=True))
    left = between(sum(counts), goal_units(settings, network, ids) or 0, share)
    return _fraction(left, sum(counts)) if isinstance(keep, float) else left


def _fraction(left: int, total: int) -> float:
    """Of two decimals, of which at least so many remain."""
    return ceil(100 * left / total) / 100 if total else 1.0


def _columns(estimator: Any) -> str:
    gone = np.setdiff1d(np.arange(estimator.network_.widths[0]), estimator.fitted_.inputs)
    if not len(gone):
        return ""
    names = getattr(estimator, "feature_names_in_", None)
    words = [str(column if names is None else names[column]) for column in gone[:MOST_NAMES]]
    more = f" and {len(gone) - MOST_NAMES} more" if len(gone) > MOST_NAMES else ""
    return f"Columns that went: {', '.join(words)}{more}. "


def _harmless(estimator: Any, loss: PruningLoss) -> str:
    """How far units went before the rows saw a loss: of this training, so that nothing is certain."""
    if not 0 < loss.harmless < 1:
        return ""
    return f"On the way no loss was seen down to {goal_name(estimator.settings_)}={goal_at(estimator, loss.harmless)}. "


def _search(prepared: Prepared) -> str:
    """The advice to search for a size, where a search is possible."""
    n_rows, held = prepared.data.n_rows, prepared.fraction is not None
    stored = isinstance(prepared.data, Streamed)
    if stored or not can_search(prepared.settings, n_rows, held, prepared.start is not None):
        return ""
    return ', or keep="auto" for the smallest network that loses nothing'


def _unjudged(estimator: Any, prepared: Prepared) -> tuple[str, str]:
    """Why no rows judged the pruning, and what to use so that some do."""
    fitted, settings = estimator.fitted_, estimator.settings_
    if prepared.fraction is None and not is_auto(estimator.early_stopping):
        return "early_stopping=False holds none out", "early_stopping=True"
    if prepared.fraction is None and estimator.preset is not None:
        return f'preset="{estimator.preset}" holds none out', "early_stopping=True"
    if prepared.start is not None and fitted.unseen is None:
        return "this fit goes on from one that may have learned from any of them", "a fit from the start"
    if prepared.fraction is None:
        return f"{prepared.data.n_rows} rows are too few to hold any out", "more rows"
    if not any("held_out" in record for record in fitted.history):
        return "too few rows differ to hold any out, or a training without some of them went wrong", "more rows"
    if progress(settings, 1) > 0:
        least = f"max_epochs={LEAST_EPOCHS} or more"
        return f"max_epochs={settings.max_epochs} leaves no epoch with all units to compare with", least
    return "the training ended before the last of them had gone", "all epochs"
