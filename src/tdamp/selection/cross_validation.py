"""Cross-validation: a training for each fold of the rows, without that fold.

All start alike and see the rows in the same order, so the prediction of a fold is what the network would predict of
those rows without them. Every row has one such prediction after each of some epochs: enough to say when to stop and how
wide predictions must be, while the network itself learns from all rows.
Oracle: `training.fit` without each fold by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np

from ..engine.prune import progress
from ..engine.settings import Settings
from ..numerics.distribution import Distribution, Level
from ..prediction import batched
from ..training.checkpoint import Checkpoint, Stage
from ..training.data import Data
from ..training.equal_rows import first_of_kinds
from ..training.fit import TrainingJob
from ..training.fitted import Callback, Fitted
from .held_out import judged
from .snapshots import Judged, Snapshot, Snapshots

FOLDS = 5
SNAPSHOTS = 25
"""Epochs after which folds are predicted, about, evenly spread: the scores of neighbours hardly differ."""


def snapshot_epochs(settings: Settings) -> list[int]:
    """The epochs after which folds are predicted, counted from 1: the last one, and while units go every one."""
    last = settings.max_epochs
    going = [epoch for epoch in range(1, last) if settings.prunes and 0 < progress(settings, epoch) < 1]
    return sorted({*range(last, 0, -max(1, last // SNAPSHOTS)), *going})


def folds_of(data: Data, seed: int) -> np.ndarray:
    """A fold for each row, at random. Equal rows share theirs, or they would be predicted from memory, unless they
    repeat by design. Every class is dealt out evenly.
    """
    first, same = first_of_kinds(data.x, data.y)
    label = data.y[first] if data.y.ndim == 1 else np.zeros(len(first), int)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(first)), label))
    fold = np.empty(len(first), int)
    fold[order] = np.arange(len(first)) % FOLDS
    return fold[same]


class Folds:
    """The trainings of a cross-validation: `jobs` to be trained in `threads`, and then what they predicted.

    Each job leaves out the rows of its fold and predicts them after every epoch of `snapshot_epochs`; `show` is called
    after the epochs of the first one.
    """

    def __init__(
        self, job: TrainingJob, fold: np.ndarray, show: Callback | None = None, checkpoint: Checkpoint | None = None,
        name: str = "fold",
    ) -> None:  # fmt: skip
        self.fold, self.epochs = fold, snapshot_epochs(job.settings)
        self.cancelled = Event()  # by the user, or by an error in one fold: then none goes on
        self.snapshots = [Snapshots() for _ in range(FOLDS)]
        alone = replace(job, mesh=None, stage=None)
        self.jobs = []
        for k, snapshots in enumerate(self.snapshots):
            stage = None if checkpoint is None else checkpoint.stage(f"{name}{k}", snapshots)
            self.jobs.append(self._without(k, alone, stage, show if k == 0 else None))

    def _without(self, k: int, job: TrainingJob, stage: Stage | None, show: Callback | None) -> TrainingJob:
        """The training without one fold."""
        data: Any = job.data
        held, weight = self.fold == k, data.weight * (self.fold != k)

        def after_epoch(epoch: int, fitted: Fitted, record: dict[str, Any]) -> None:
            if epoch in self.epochs:
                self.snapshots[k].append(_snapshot(fitted, data, held, weight))
            if show is not None:
                show(epoch, fitted, record)
            if self.cancelled.is_set():  # this training is not over: no checkpoint may say so
                raise CancelledError

        return job.on(data._replace(weight=weight), stage=stage, callback=after_epoch, part=f"fold {k + 1}")

    @contextmanager
    def threads(self) -> Iterator[ThreadPoolExecutor]:
        """Threads for the jobs; an error in the block ends all of them."""
        with ThreadPoolExecutor(min(FOLDS, os.cpu_count() or 1)) as threads:
            try:
                yield threads
            except BaseException:
                self.cancelled.set()
                raise

    def predictions(self) -> Snapshots:
        """Predictions of every row, trained without its fold, and the mean level, for each epoch of `snapshot_epochs`.

        A training that went wrong ends the list before its first bad epoch.
        """
        back = np.argsort(np.argsort(self.fold, kind="stable"))  # rows fold by fold, and back again
        return Snapshots(_joined(parts, back) for parts in zip(*self.snapshots, strict=False))


def _snapshot(fitted: Fitted, data: Data, held: np.ndarray, weight: np.ndarray) -> Snapshot:
    if not fitted.network.output.is_calibrated:
        return Snapshot(judged(fitted, data.x[held], data.y[held]), None)
    all_rows = batched.predicted(fitted, data.x)
    return Snapshot(all_rows.take(held), all_rows.level(weight))


def _joined(parts: tuple[Snapshot, ...], back: np.ndarray) -> Snapshot:
    """One snapshot of the rows of all folds, in their own order."""
    predictions, levels = zip(*parts, strict=True)
    if levels[0] is None:
        return Snapshot(Judged(*(np.concatenate(each)[back] for each in zip(*predictions, strict=True))), None)
    mean, epistemic, aleatoric, dof = zip(*predictions, strict=True)
    joined = Distribution(np.concatenate(mean), np.concatenate(epistemic), np.concatenate(aleatoric), dof[0])
    return Snapshot(joined.take(back), Level(*np.mean(levels, axis=0)))
