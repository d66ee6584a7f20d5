"""From a fitted estimator to the facts that a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..engine.network import Network
from ..training.data import class_indices
from ..training.fitted import active_units
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
    names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
    places = None if asked.is_flat else _places(asked)
    if places is not None:
        names = tuple(f"channel {i}" for i in range(asked.widths[0]))
        image_shape = image_shape or (places if len(places) == 2 else None)
    classes = getattr(estimator, "classes_", None)
    return Facts(
        title=title or type(estimator).__name__,
        task=asked.task,
        activation=asked.activation,
        widths=asked.widths,
        widths_left=(*(int(mask.sum()) for mask in active_units(fitted.state)), asked.widths[-1]),
        n_rows=n_rows or int(getattr(estimator, "n_rows_", 0)),
        outcome=fitted.outcome.name,
        version=__version__,
        history=_in_units(estimator),
        active_prob=estimator.active_prob_,
        feature_names=names,
        image_shape=image_shape,
        classes=None if classes is None else tuple(map(str, classes)),
        held=held,
        frontier=frontier,
        notes=tuple(notes),
        epoch=fitted.epoch or None,
        pruning=fitted.pruning,
        groups=estimator.n_groups_ if estimator.settings_.prunes else None,
        n_pixels=None if places is None else prod(places),
        n_params=(asked.n_params, fitted.network.n_params),
    )


def held_of(estimator: Any, X: Any, y: Any, where: str) -> Held:
    """Predictions on rows whose targets are known."""
    x = _shown(estimator.network_, X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X))
    if estimator.network_.output.has_classes:
        return Held.of(estimator.predict_proba(X), class_indices(column_or_1d(y), estimator.classes_), x=x, where=where)
    return Held.of(estimator.predict_distribution(X), y, x=x, where=where)


def _places(network: Network) -> tuple[int, ...]:
    """Height and width of a network's images, or the length of its sequences."""
    return (network.input_shape or ())[:-1]


def _shown(network: Network, x: np.ndarray) -> np.ndarray | None:
    """The inputs that a report shows beside predictions: of images their grey pixels; None of sequences."""
    if network.is_flat:
        return x if x.ndim < 3 else x.reshape(len(x), -1)
    places = _places(network)
    return x.reshape(len(x), prod(places), -1).mean(2) if len(places) == 2 else None


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
