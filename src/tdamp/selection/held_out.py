"""Rows held out of training: they say which epoch is best, and how wide calibrated predictions must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..numerics.distribution import Level
from ..prediction import batched
from ..training import calibration
from ..training.calibration import Calibration
from ..training.data import Data
from ..training.equal_rows import as_evidence, drawn_rows, kinds_of
from ..training.fitted import Fitted
from ..training.pruning_loss import MeanLoss
from .calibration import level_of
from .snapshots import Judged, Predictions, Snapshot, Snapshots


class Scored(NamedTuple):
    """A snapshot of the held-out rows, with the log score of each of them."""

    predictions: Predictions
    log_scores: np.ndarray
    errors: np.ndarray  # 1 for a wrong class; squared errors over the variance of the targets, so that R2 = 1 - mean
    level: Level | None


@dataclass(frozen=True)
class HeldOut:
    """Rows in the engine's units, not trained on; `trained` are (some of) those that were."""

    data: Data
    trained: Data
    snapshots: list[Scored] = field(default_factory=list)
    table_kinds: np.ndarray | None = None
    """Kinds of its rows in the table that they were taken from (`equal_rows.kinds_of`); None: they are all of it."""

    @cached_property
    def kinds(self) -> np.ndarray:
        """Kinds of its rows: those of one kind are one observation."""
        return kinds_of(self.data.x, self.data.y) if self.table_kinds is None else self.table_kinds

    @cached_property
    def evidence(self) -> np.ndarray:
        """How many observations each row counts for."""
        return as_evidence(self.kinds, self.data.weight)

    def score(self, fitted: Fitted) -> float:
        """Mean log score; that of calibrated predictions as wide as suits these rows best."""
        x, y, _ = self.data
        if not fitted.network.output.is_calibrated:
            return self.add(judged(fitted, x, y), None)
        return self.add(batched.predicted(fitted, x), level_of(fitted, self.trained))

    def add(self, predictions: Predictions, level: Level | None) -> float:
        """Keep a snapshot of predictions of these rows; its mean log score."""
        if isinstance(predictions, Judged):
            log_scores, errors = predictions
        else:
            log_scores = calibration.best_log_scores(self.data.y, predictions, self.data.weight)
            errors = np.square(self.data.y - predictions.mean)
        if self.data.y.ndim == 2:
            spread = np.cov(self.data.y, rowvar=False, ddof=0, aweights=self.data.weight)
            errors = (errors / np.maximum(np.diag(np.atleast_2d(spread)), np.finfo(float).tiny)).mean(1)
        self.snapshots.append(Scored(predictions, log_scores, errors, level))
        return self.mean_log_score(-1)

    def packed(self) -> dict[str, np.ndarray]:
        """The snapshots, for a checkpoint; their scores follow from them."""
        return Snapshots(Snapshot(each.predictions, each.level) for each in self.snapshots).packed()

    def unpack(self, arrays: dict[str, np.ndarray]) -> None:
        """Replace the snapshots by those of a checkpoint."""
        snapshots = Snapshots()
        snapshots.unpack(arrays)
        self.snapshots.clear()
        for snapshot in snapshots:
            self.add(*snapshot)

    def latest_good(self, among: Sequence[int] | None = None) -> int:
        """Index of the last snapshot, `among` these or all, that the rows cannot tell from the best one of them: within
        a standard error. Schedules are made to be run to their end; few rows end them by chance."""
        among = range(len(self.snapshots)) if among is None else among
        share = self.data.weight / self.data.weight.sum()
        best = max(among, key=lambda index: float(share @ self.snapshots[index].log_scores))
        return max(index for index in among if index == best or self.lost(best, index).within(1))

    def lost(self, before: int, after: int) -> MeanLoss:
        """By how much the mean log score of one snapshot is less than that of another."""
        return self.mean_of(self.snapshots[before].log_scores - self.snapshots[after].log_scores)

    def mean_log_score(self, index: int) -> float:
        """Mean log score of a snapshot's predictions of the rows held out."""
        return float(np.average(self.snapshots[index].log_scores, weights=self.data.weight))

    def mean_of(self, lost: np.ndarray) -> MeanLoss:
        """Mean and standard error of losses, one for each row held out."""
        return MeanLoss.of(lost, self.kinds, self.data.weight)

    def calibration(self, fitted: Fitted) -> Calibration | None:
        """Calibration of a network by these rows; None where predictions are left as they are."""
        if not fitted.network.output.is_calibrated:
            return None
        return calibration.calibrate(self.data.y, batched.predicted(fitted, self.data.x), self.evidence)

    def calibration_at(self, index: int, fitted: Fitted) -> Calibration | None:
        """Calibration of this snapshot, carried over to a network that learned from more rows; or None."""
        predictions, _, _, level = self.snapshots[index]
        if isinstance(predictions, Judged) or level is None:
            return None
        by = calibration.calibrate(self.data.y, predictions, self.evidence)
        return by.carried(level, level_of(fitted, self.trained))


def judged(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> Judged:
    """How good predictions are that are not calibrated."""
    if fitted.network.output.has_classes:
        log_probs = batched.log_probs(fitted, x)
        return Judged(log_probs[np.arange(len(x)), y], (log_probs.argmax(1) != y).astype(np.float64))
    return Judged(batched.log_scores(fitted, x, y), np.square(y - batched.predicted(fitted, x).mean))


def hold_out(data: Data, fraction: float, seed: int, start: Fitted | None = None) -> tuple[Data, HeldOut] | None:
    """The rows to train on and the others, every class among both where it can be, and equal rows together; None when
    all rows are needed, or too few of them differ.

    Of a training that continues from `start` those are held out that `start` has not seen; None if they are unknown, or
    less than half of what was asked for.
    """
    if start is not None:
        return None if start.unseen is None else _split(data, held_again(data, start.unseen, fraction / 2))
    least = (len(np.unique(data.y)) if data.y.ndim == 1 else 1) / len(data.y)
    if least > max(fraction, 0.5):
        return None
    return _split(data, drawn(data, max(fraction, least), seed))


def drawn(data: Data, fraction: float, seed: int) -> np.ndarray:
    """A mask of rows that make about `fraction` of all weight: none, where no row can be spared."""
    return drawn_rows(data.x, data.y, fraction, seed, classes=data.y.ndim == 1, weight=data.weight)


def held_again(data: Data, unseen: np.ndarray, least: float) -> np.ndarray:
    """A mask of the rows of these kinds; none, if they are less than the part `least` of all."""
    held = np.isin(kinds_of(data.x, data.y), unseen)
    return held & (held.mean() >= least)


def _split(data: Data, held: np.ndarray) -> tuple[Data, HeldOut] | None:
    if not held.any() or held.all():
        return None
    rest = Data(*(a[~held] for a in data))
    return rest, HeldOut(Data(*(a[held] for a in data)), rest, table_kinds=kinds_of(data.x, data.y)[held])
