"""The facts that a report is made of: plain data, checked when it is put together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..numerics.distribution import Distribution
from ..training.pruning_loss import PruningLoss


class Wording(NamedTuple):
    """What a report calls things of one task."""

    noise_in: str  # what the noise is in
    error: str  # the name of the error along a sparsity path
    quality: str  # what a loss by pruning is measured in


TASKS = {
    "regression": Wording("targets", "rmse", "R²"),
    "classification": Wording("class scores", "error", "accuracy"),
}


@dataclass(frozen=True)
class Held:
    """Predictions on rows, if possible rows the model was not trained on; `where` says which ("held-out rows").

    Regression fills mean, epistemic_std, aleatoric_std and dof, (rows,) or (rows, outputs), the fields of its
    `Distribution`, and `kind`, the type of that; classification fills probs, (rows, classes), and y holds class
    indices. x is the rows' inputs, (rows, inputs), of any type that can be shown.
    """

    y: np.ndarray
    mean: np.ndarray | None = None
    epistemic_std: np.ndarray | None = None
    aleatoric_std: np.ndarray | None = None
    dof: np.ndarray | None = None  # None: a Gaussian
    probs: np.ndarray | None = None
    x: np.ndarray | None = None
    where: str = "held-out rows"
    kind: type[Distribution] = Distribution

    @classmethod
    def of(cls, predicted: Distribution | np.ndarray, y: Any, **more: Any) -> Held:
        """Rows with a regression's distribution, or class probabilities and class indices; `more` are other fields."""
        if isinstance(predicted, Distribution):
            y = np.asarray(y, np.float64).reshape(predicted.mean.shape)
            return cls(y=y, **predicted.on_host()._asdict(), kind=type(predicted), **more)
        return cls(y=y, probs=predicted, **more)

    def __post_init__(self) -> None:
        """Raise ValueError for arrays that do not belong together."""
        if not len(self.y):
            raise ValueError("Held has no rows: give at least one, or held=None")
        for name in ("mean", "epistemic_std", "aleatoric_std", "dof"):
            values = getattr(self, name)
            if values is not None and np.shape(values) != np.shape(self.y):
                raise ValueError(f"{name} has shape {np.shape(values)}: expected that of y, {np.shape(self.y)}")
        for name in ("probs", "x"):
            values = getattr(self, name)
            if values is not None and (np.ndim(values) != 2 or len(values) != len(self.y)):
                raise ValueError(f"{name} has shape {np.shape(values)}: expected two axes and {len(self.y)} rows")

    @property
    def distribution(self) -> Distribution:
        """The predictions of a regression."""
        dof = np.inf if self.dof is None else self.dof
        return self.kind(self.mean, self.epistemic_std, self.aleatoric_std, dof).on_host()

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of a new observation: what the model does not know, and the noise."""
        return self.distribution.std

    @property
    def tails(self) -> np.ndarray:
        """Deprecated: degrees of freedom of a regression's predictions."""
        warnings.warn("Held.tails goes in 0.4. Use Held.distribution.dof.", DeprecationWarning, stacklevel=2)
        return self.distribution.dof

    def output(self, at: int) -> tuple[np.ndarray, Distribution]:
        """y and its prediction, of one output of a regression."""
        y = np.asarray(self.y, np.float64)
        return (y, self.distribution) if y.ndim == 1 else (y[:, at], self.distribution.take(np.s_[:, at]))

    @property
    def n_outputs(self) -> int:
        """Number of outputs of a regression."""
        return int(np.prod(np.shape(self.y)[1:]))


@dataclass(frozen=True)
class Facts:
    """A fitted model, its training and its predictions.

    widths: as asked for, inputs to outputs; widths_left: after pruning.
    history: a record per epoch as in `Fitted.history`, each with an optional "held_out" log score; noise_var in the
        squared units of the targets, or in no record, if no noise is learned.
    active_prob: P(active) of all units asked for, a layer at a time, inputs first; 0 for removed ones.
    feature_names: of all inputs; () numbers them. image_shape: (height, width) if the inputs are an image's pixels.
    epoch: whose posterior it is, counted from 1; None is the last.
    groups: those left and those there were of what `keep` counts, where units were to go.
    pruning: what pruning costs on rows not trained on, where it was judged.
    n_pixels: numbers of a row of held.x where the inputs are channels of images; None: one for each input.
    n_params: weights and biases, asked for and left; None: those of dense layers of these widths.
    frontier: models along a sparsity path: keep, units, params, error or rmse, log_score, calibration_error; and, where
        known, error_se or rmse_se and log_score_se, lost and lost_se against the best model, names of removed columns.
    """

    title: str
    task: str
    activation: str
    widths: tuple[int, ...]
    widths_left: tuple[int, ...]
    n_rows: int
    outcome: str
    version: str
    history: Sequence[Mapping[str, Any]]
    active_prob: tuple[np.ndarray, ...]
    feature_names: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None
    classes: tuple[str, ...] | None = None
    held: Held | None = None
    frontier: Sequence[Mapping[str, Any]] | None = None
    notes: Sequence[str] = ()
    epoch: int | None = None
    pruning: PruningLoss | None = None
    groups: tuple[int, int] | None = None
    n_pixels: int | None = None
    n_params: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for facts that contradict each other."""
        if self.task not in TASKS:
            raise ValueError(f"task={self.task!r}: expected 'regression' or 'classification'")
        if len(self.widths) < 2 or len(self.widths_left) != len(self.widths):
            raise ValueError(
                f"widths {self.widths} and widths_left {self.widths_left}: expected one length, at least 2"
            )
        sizes = tuple(len(prob) for prob in self.active_prob)
        if sizes != tuple(self.widths[:-1]):
            raise ValueError(
                f"active_prob has lengths {sizes}: expected the inputs and hidden units {self.widths[:-1]}"
            )
        if any(not np.all((np.asarray(prob) >= 0) & (np.asarray(prob) <= 1)) for prob in self.active_prob):
            raise ValueError("active_prob: expected probabilities between 0 and 1")
        if self.feature_names and len(self.feature_names) != self.widths[0]:
            raise ValueError(f"{len(self.feature_names)} feature_names: expected {self.widths[0]}, one for each input")
        pixels = self.n_pixels or self.widths[0]
        if self.image_shape is not None and prod(self.image_shape) != pixels:
            raise ValueError(f"image_shape {self.image_shape}: expected (height, width) of {pixels} pixels")
        if self.classes is not None and len(self.classes) != self.widths[-1]:
            raise ValueError(f"{len(self.classes)} classes: expected {self.widths[-1]}, one for each output")
        if self.epoch is not None and not 1 <= self.epoch <= len(self.history):
            raise ValueError(f"epoch={self.epoch}: expected one of the {len(self.history)} in the history")
        if self.held is not None:
            self._check_held(self.held)

    def _check_held(self, held: Held) -> None:
        CHECKS[self.task](held, self.widths[-1])
        columns = self.n_pixels or self.widths[0]
        if held.x is not None and held.x.shape[1] != columns:
            raise ValueError(f"held.x has {held.x.shape[1]} columns: expected {columns}, one for each input")

    def feature(self, at: int) -> str:
        """Name of an input."""
        return str(self.feature_names[at]) if self.feature_names else f"input {at}"

    def label(self, at: int) -> str:
        """Name of a class."""
        return str(self.classes[at]) if self.classes is not None else str(at)


def _check_regression(held: Held, n_outputs: int) -> None:
    if held.mean is None or held.epistemic_std is None or held.aleatoric_std is None:
        raise ValueError("held: a regression needs mean, epistemic_std and aleatoric_std")
    if np.ndim(held.y) > 2 or held.n_outputs != n_outputs:
        raise ValueError(f"held.y has shape {np.shape(held.y)}: expected {n_outputs} outputs")


def _check_classification(held: Held, n_outputs: int) -> None:
    if held.probs is None or np.shape(held.probs)[1] != n_outputs:
        raise ValueError(f"held.probs: expected (rows, {n_outputs}) class probabilities")


CHECKS = {"regression": _check_regression, "classification": _check_classification}
"""The check of each task: it raises ValueError unless the predictions on held-out rows are complete."""
