"""A table's fit: rows held out of a training choose how long to train, and then they are learned from, too.

How long to train and how wide to predict is found by cross-validation (small tables), or by rows held out of a first
training. A network with a Gaussian prior, pruned to an exact size or not, is then trained on every row; all others are
trained once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..engine.settings import Settings
from ..factors.priors.catalog import PRIORS
from ..training.checkpoint import Checkpoint
from ..training.fit import TrainingJob, train
from ..training.fitted import Callback, Fitted
from .calibration import carried_over, of_stream, unstretched
from .cross_validation import FOLDS, Folds, folds_of
from .held_out import HeldOut, hold_out
from .pruning import judged_by, loses_units
from .selection import Selection, selection_of
from .size import smallest

CROSS_VALIDATED_ROWS = 3000
"""Up to so many rows epochs are chosen by cross-validation: it costs five trainings."""
REFIT_ROWS = 100_000
"""Up to so many rows a network is trained again on all of them."""
NO_SEARCH = (
    'keep="auto" needs rows that are held out and learned from in the end: use early_stopping="auto", at least five '
    "rows that differ, the Gaussian prior, exact pruning, a fit from the start, and a table in memory of "
    f"{REFIT_ROWS} rows at most, or give keep a number"
)


def select_and_fit(
    job: TrainingJob, fraction: float | None, *, streams: bool = False, others: Sequence[Settings] = (),
    whole: Sequence[Settings] = (), show: Callback | None = None, checkpoint: Checkpoint | None = None,
) -> tuple[Fitted, Settings]:  # fmt: skip
    """Train on the job's rows, `fraction` of which may be held out (None: none), and calibrate.

    Where rows that are held out are learned from in the end, they also choose between the job's settings and `others`,
    and, where there are settings to train the `whole` network by, how many units remain, from all down to the goal
    (ValueError without such rows); the settings that were chosen are returned.
    A training that continues from a start holds out what the start is known not to have learned from, or nothing.
    Where it `streams` all rows are new to the start, and are predicted before they are learned from.
    Where there are several trainings the job's callback is called in the last one, whose posterior it is, and `show`
    before. Each is a stage of the `checkpoint`.
    """
    data: Any = job.data
    last = replace(job, stage=None if checkpoint is None else checkpoint.stage("training"))
    if fraction is not None and job.start is None and learns_from_all(job.settings, len(data.x)):
        judge = select_by_folds if len(data.x) <= CROSS_VALIDATED_ROWS else select_by_held_out
        select = partial(judge, fraction=fraction, show=show, checkpoint=checkpoint)
        best = None
        for number, settings in enumerate((job.settings, *others)):
            selection = select(replace(job, settings=settings), name="other" * number)
            if selection is not None and (best is None or selection.score() > best.score()):
                best = selection
        if best is not None and whole:
            best = smallest(job, best, whole, select)
        if best is not None:
            fitted = train(last.on(data, settings=best.settings_to_train()))
            history = _with_scores(fitted.history, best.scores)
            calibration, loss = best.calibration(fitted), best.pruning_loss()
            return replace(fitted, history=history, calibration=calibration, pruning=loss), best.settings
    if whole:
        raise ValueError(NO_SEARCH)
    split = None if fraction is None else hold_out(data, fraction, job.seed, job.start)
    if split is not None:
        rest, held = split
        stage = None if checkpoint is None else checkpoint.stage("training", held)
        fitted = train(job.on(rest, stage=stage, monitor=held.score))
        return replace(judged_by(held, fitted, job.settings, job.start), unseen=np.unique(held.kinds)), job.settings
    fitted = train(last.on(data))
    if job.start is None:
        return replace(fitted, calibration=unstretched(fitted, data)), job.settings
    by = (of_stream if streams else carried_over)(fitted, data, job.start)
    loss = None if loses_units(fitted, job.start) else job.start.pruning
    return replace(fitted, calibration=by, pruning=loss), job.settings


def can_search(settings: Settings, n_rows: int, holds_out: bool, continues: bool) -> bool:
    """Whether rows can say how many units a network needs: if they are held out, and learned from in the end."""
    return holds_out and not continues and learns_from_all(settings, n_rows)


def check_search(settings: Settings, n_rows: int, holds_out: bool, continues: bool) -> None:
    """Raise ValueError where no rows can say how many units a network needs: before anything is trained."""
    if not can_search(settings, n_rows, holds_out, continues):
        raise ValueError(NO_SEARCH)


def learns_from_all(settings: Settings, n_rows: int) -> bool:
    """Whether rows held out are learned from in the end: if they are not too many, under a prior that puts no unit in
    question, and unless the paper's rule prunes, whose size is the data's own."""
    return n_rows <= REFIT_ROWS and not PRIORS[settings.prior].in_question and settings.pruning == "exact"


def select_by_folds(
    job: TrainingJob, fraction: float, show: Callback | None, checkpoint: Checkpoint | None, name: str
) -> Selection | None:
    """Select by cross-validation, whose folds have a size of their own; None if too few rows differ.

    `name` begins the names of its stages in the checkpoint.
    """
    data: Any = job.data
    held, fold = HeldOut(data, data), folds_of(data, job.seed)
    if len(np.unique(fold)) < FOLDS:
        return None
    folds = Folds(job, fold, show, checkpoint, f"{name}fold")
    with folds.threads() as threads:
        list(threads.map(train, folds.jobs))
    scores = {epoch: held.add(*snapshot) for epoch, snapshot in zip(folds.epochs, folds.predictions(), strict=False)}
    return selection_of(held, scores, job.settings)


def select_by_held_out(
    job: TrainingJob, fraction: float, show: Callback | None, checkpoint: Checkpoint | None, name: str
) -> Selection | None:
    """Select by rows held out of a training on the others; None if all are needed."""
    data: Any = job.data
    split = hold_out(data, fraction, job.seed)
    if split is None:
        return None
    rest, held = split
    stage = None if checkpoint is None else checkpoint.stage(f"{name}validation", held)
    fitted = train(job.on(rest, stage=stage, callback=show, monitor=held.score, part="validation"))
    scores = {record["epoch"]: record["held_out"] for record in fitted.history}
    return selection_of(held, scores, job.settings)


def _with_scores(history: tuple[dict[str, Any], ...], scores: dict[int, float]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**record, "held_out": scores[record["epoch"]]} if record["epoch"] in scores else record for record in history
    )
