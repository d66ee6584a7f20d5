"""A fit from files: the counterpart of `refit.select_and_fit` for rows that are not in memory."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ..training.checkpoint import Checkpoint
from ..training.fit import TrainingJob, train
from ..training.fitted import Fitted
from ..training.stored import Streamed
from .calibration import carried_over, unstretched
from .held_out import HeldOut
from .pruning import judged_by, loses_units

CHUNK_NUMBERS = 2**23
"""Numbers of x in memory at a time: 32 MB. There are two such chunks, and copies on the way to the device."""


def chunk_rows(n_rows: int, n_inputs: int) -> int:
    """Rows in memory at a time: chunks are of one size, so that one program is compiled and hardly a row is padding."""
    return ceil(n_rows / ceil(n_rows * n_inputs / CHUNK_NUMBERS))


def fit_streamed(job: TrainingJob, data: Streamed, checkpoint: Checkpoint | None = None) -> Fitted:
    """Train once on the stored rows of the job, stop by the rows held out, and calibrate by them; a training that
    continues from a start, which may have learned from any, holds none out."""
    settings = replace(job.settings, chunk_rows=chunk_rows(*data.stored.x.shape))
    held = None if data.held is None else HeldOut(data.held, data.some)
    stage = None if checkpoint is None else checkpoint.stage("training", held)
    fitted = train(replace(job, settings=settings, stage=stage, monitor=None if held is None else held.score))
    if held is not None:
        return judged_by(held, fitted, settings)
    if job.start is not None:
        loss = None if loses_units(fitted, job.start) else job.start.pruning
        return replace(fitted, calibration=carried_over(fitted, data.some, job.start), pruning=loss)
    weight = data.some.weight * (data.stored.weight.sum() / data.some.weight.sum())  # some stand for all
    return replace(fitted, calibration=unstretched(fitted, data.some._replace(weight=weight)))
