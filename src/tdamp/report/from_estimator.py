"""From a fitted estimator to the facts that a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..training.data import class_indices
from .facts import Facts, Held
from .page import write_report


def report_of(
    estimator: Any,
    path: str | Path,
    X: Any = None,
    y: Any = None,
    *,
    where: str = "rows given for the report",
    sparsity_path: Any = None,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write the page of a fitted estimator. X and y, rows it was not trained on, show how far it can be trusted.

    `where` describes these rows; `sparsity_path` is a result of `tdamp.sparsity_path`; `image_shape`, (height, width),
    draws the inputs as an image.
    """
    if (X is None) != (y is None):
        raise ValueError("give both X and y, or neither")
    held = None if X is None else held_of(estimator, X, y, where)
    frontier = None if sparsity_path is None else sparsity_path.frame.to_dict("records")
    facts = facts_of(estimator, held, title=title, image_shape=image_shape, frontier=frontier, notes=notes)
    write_report(facts, Path(path))


def facts_of(
    estimator: Any,
    held: Held | None,
    *,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
    n_rows: int = 0,
    frontier: Sequence[Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
) -> Facts:
    """The facts of a fitted estimator for its report."""
    from .. import __version__

    fitted, asked = estimator.fitted_, estimator.network_
    classes = getattr(estimator, "classes_", None)
    return Facts(
        title=title or type(estimator).__name__,
        task=asked.task,
        activation=asked.activation,
        widths=asked.widths,
        widths_left=fitted.network.widths,
        n_rows=n_rows or int(getattr(estimator, "n_rows_", 0)),
        outcome=fitted.outcome.name,
        version=__version__,
        history=_in_units(estimator),
        active_prob=estimator.active_prob_,
        feature_names=tuple(map(str, getattr(estimator, "feature_names_in_", ()))),
        image_shape=image_shape,
        classes=None if classes is None else tuple(map(str, classes)),
        held=held,
        frontier=frontier,
        notes=tuple(notes),
        epoch=fitted.epoch or None,
        pruning=fitted.pruning,
        groups=estimator.n_groups_ if estimator.settings_.prunes else None,
    )


def held_of(estimator: Any, X: Any, y: Any, where: str) -> Held:
    """Predictions on rows whose targets are known."""
    x = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if estimator.network_.output.has_classes:
        return Held.of(estimator.predict_proba(X), class_indices(column_or_1d(y), estimator.classes_), x=x, where=where)
    return Held.of(estimator.predict_distribution(X), y, x=x, where=where)


def _in_units(estimator: Any) -> list[dict[str, Any]]:
    """The history with the noise, if any is learned, in the units of the targets, and calibrated as that of predictions
    is."""
    if not estimator.network_.output.learns_noise:
        return [{k: v for k, v in record.items() if k != "noise_var"} for record in estimator.fitted_.history]
    calibration = estimator.fitted_.calibration
    square = np.square(getattr(estimator, "y_scale_", 1.0)) * (1.0 if calibration is None else calibration.noise)
    return [
        {**record, "noise_var": (np.asarray(record["noise_var"], np.float64) * square).tolist()}
        for record in estimator.fitted_.history
    ]
