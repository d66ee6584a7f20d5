"""Cross-validation: a training for each fold of the rows, without that fold.

All start alike and see the rows in the same order, so the prediction of a fold is what the network would predict of
those rows without them. Every row has one such prediction after each of some epochs: enough to say when to stop and how
wide predictions must be, while the network itself learns from all rows.
Oracle: `training.fit` without each fold by itself.
"""

from __future__ import annotations

import os
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np

from ..engine.prune import progress
from ..engine.settings import Settings
from ..numerics.distribution import Distribution, Level
from ..prediction import batched
from ..training.checkpoint import Checkpoint
from ..training.data import Data
from ..training.equal_rows import first_of_kinds
from ..training.events import part
from ..training.fit import TrainingJob, train
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


def predict_folds(
    job: TrainingJob, fold: np.ndarray, show: Callback | None = None, checkpoint: Checkpoint | None = None,
    name: str = "fold",
) -> Snapshots:  # fmt: skip
    """After every epoch of `snapshot_epochs`: each row as it is predicted without its fold, and the mean level.

    A training that goes wrong ends the list before its first bad epoch. Folds are trained in threads of their own;
    `show` is called after the epochs of the first one.
    """
    data: Any = job.data
    epochs = snapshot_epochs(job.settings)
    cancelled = Event()  # by the user, or by an error in one fold: then none goes on
    job = replace(job, mesh=None, stage=None)

    def train_without(k: int) -> Snapshots:
        snapshots = Snapshots()
        stage = None if checkpoint is None else checkpoint.stage(f"{name}{k}", snapshots)
        held, weight = fold == k, data.weight * (fold != k)

        def after_epoch(epoch: int, fitted: Fitted, record: dict[str, Any]) -> None:
            if epoch in epochs:
                snapshots.append(_snapshot(fitted, data, held, weight))
            if show is not None and k == 0:
                show(epoch, fitted, record)
            if cancelled.is_set():  # this training is not over: no checkpoint may say so
                raise CancelledError

        with part(f"fold {k + 1}"):
            train(job.on(data._replace(weight=weight), stage=stage, callback=after_epoch))
        return snapshots

    with ThreadPoolExecutor(min(FOLDS, os.cpu_count() or 1)) as threads:
        try:
            by_fold = list(threads.map(train_without, range(FOLDS)))
        except BaseException:
            cancelled.set()
            raise
    back = np.argsort(np.argsort(fold, kind="stable"))  # rows fold by fold, and back again
    return Snapshots(_joined(parts, back) for parts in zip(*by_fold, strict=False))


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
