"""How long to train, chosen by rows that a training did not learn from: by folds of a small table, or by some rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..engine.prune import is_over
from ..engine.settings import Settings
from ..training.calibration import Calibration
from ..training.checkpoint import Checkpoint
from ..training.events import part
from ..training.fit import TrainingJob, train
from ..training.fitted import Callback, Fitted
from ..training.pruning_loss import PruningLoss
from .cross_validation import FOLDS, folds_of, predict_folds, snapshot_epochs
from .held_out import HeldOut, hold_out
from .pruning import pruning_loss

CROSS_VALIDATED_ROWS = 3000
"""Up to so many rows epochs are chosen by cross-validation: it costs five trainings."""


@dataclass(frozen=True)
class Selection:
    """Scores of the epochs of a training by rows that it did not learn from."""

    held: HeldOut
    scores: dict[int, float]  # mean log score by epoch, one for each snapshot
    settings: Settings  # of that training

    @cached_property
    def chosen(self) -> int:
        """Index of the snapshot that a training is to end with: one that has lost all units it is to lose."""
        return self.held.latest_good([i for i, epoch in enumerate(self.scores) if is_over(self.settings, epoch)])

    def score(self) -> float:
        """Mean log score of the chosen snapshot."""
        return list(self.scores.values())[self.chosen]

    def settings_to_train(self) -> Settings:
        """Those of the training, ended with the chosen epoch."""
        return ended_after(self.settings, list(self.scores)[self.chosen])

    def calibration(self, fitted: Fitted) -> Calibration | None:
        """Calibration of a network trained for so long on all rows."""
        return self.held.calibration_at(self.chosen, fitted)

    def pruning_loss(self) -> PruningLoss | None:
        """What the units cost that the training lost."""
        return pruning_loss(self.held, list(self.scores), self.settings, self.chosen)


Select = Callable[..., Selection | None]


def selection_of(
    job: TrainingJob, name: str, *, fraction: float, show: Callback | None, checkpoint: Checkpoint | None
) -> Selection | None:
    """By cross-validation of a small table, by a fraction of the rows of a large one; `name` is that of its stages in
    the checkpoint. None if all rows are needed, or if no training had an epoch that could be chosen."""
    data: Any = job.data
    select = select_by_folds if len(data.x) <= CROSS_VALIDATED_ROWS else select_by_held_out
    selection = select(job, fraction, show, checkpoint, name)
    return None if selection is None or not _settled(selection) else selection


def _settled(selection: Selection) -> bool:
    return any(is_over(selection.settings, epoch) for epoch in selection.scores)


def select_by_folds(
    job: TrainingJob, fraction: float, show: Callback | None, checkpoint: Checkpoint | None, name: str
) -> Selection | None:
    """By cross-validation, whose folds have a size of their own; None if too few rows differ."""
    data: Any = job.data
    held, fold = HeldOut(data, data), folds_of(data, job.seed)
    if len(np.unique(fold)) < FOLDS:
        return None
    snapshots = predict_folds(job, fold, show, checkpoint, f"{name}fold")
    epochs = snapshot_epochs(job.settings)
    scores = {epoch: held.add(*snapshot) for epoch, snapshot in zip(epochs, snapshots, strict=False)}
    return Selection(held, scores, job.settings)


def select_by_held_out(
    job: TrainingJob, fraction: float, show: Callback | None, checkpoint: Checkpoint | None, name: str
) -> Selection | None:
    """By a training on the other rows; None if all are needed."""
    data: Any = job.data
    split = hold_out(data, fraction, job.seed)
    if split is None:
        return None
    rest, held = split
    stage = None if checkpoint is None else checkpoint.stage(f"{name}validation", held)
    with part("validation"):
        fitted = train(job.on(rest, stage=stage, callback=show, monitor=held.score))
    scores = {record["epoch"]: record["held_out"] for record in fitted.history}
    return Selection(held, scores, job.settings)


def ended_after(settings: Settings, epochs: int) -> Settings:
    """The same schedule, which ends after so many epochs."""
    if not settings.prunes:
        return replace(settings, max_epochs=epochs)
    share = settings.max_epochs / epochs
    start, end = min(settings.prune_start * share, 1.0), min(settings.prune_end * share, 1.0)
    return replace(settings, max_epochs=epochs, prune_start=start, prune_end=end)
