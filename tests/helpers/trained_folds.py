"""A cross-validation of rows, as `select_by_folds` runs it."""

from __future__ import annotations

import numpy as np

from tdamp.selection.cross_validation import Folds
from tdamp.selection.snapshots import Snapshots
from tdamp.training.fit import TrainingJob, train
from tdamp.training.fitted import Callback


def predict_folds(job: TrainingJob, fold: np.ndarray, show: Callback | None = None) -> Snapshots:
    """Predictions of every row, trained without its fold."""
    folds = Folds(job, fold, show)
    with folds.threads() as threads:
        list(threads.map(train, folds.jobs))
    return folds.predictions()
