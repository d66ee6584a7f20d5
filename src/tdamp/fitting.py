"""A table's fit: rows that are kept from a training judge it, and then they are learned from, too.

How long to train and how wide to predict is told by twins that leave a fold of the rows out (small tables), or by rows
held out of a first training. A regression with all its units is then trained on every row; all others are trained once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .calibration import Calibration
from .checkpoint import Checkpoint
from .checks import Data
from .devices import mesh_of
from .events import part
from .fitted import Callback, Fitted
from .held_out import HeldOut, hold_out, level_of, without_any
from .network import Network
from .settings import Settings
from .training import fit
from .twins import FOLDS, folds_of, looked_at, looks

TWINS_ROWS = 3000
"""Up to so many rows a regression is judged by twins: they cost five trainings."""
AGAIN_ROWS = 20_000
"""Up to so many rows it is trained again on all of them."""


class Judgement(NamedTuple):
    """What rows not trained on have said."""

    held: HeldOut
    scores: dict[int, float]  # mean log score by epoch, look by look

    def epochs(self) -> int:
        """To train for."""
        return list(self.scores)[self.held.latest_good()]

    def calibration(self, fitted: Fitted) -> Calibration:
        """Of a network trained for so long on all rows."""
        return self.held.calibration_at(self.held.latest_good(), level_of(fitted, self.held.trained))


def fit_table(
    network: Network,
    data: Data,
    settings: Settings,
    *,
    fraction: float | None,
    seed: int,
    groups: np.ndarray | None = None,
    start: Fitted | None = None,
    callback: Callback | None = None,
    show: Callback | None = None,
    devices: Any = None,
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """Train on rows in the engine's units, `fraction` of which may be held out (None: none), and calibrate.

    Where there are several trainings `callback` is called in the last one, whose posterior it is, and `show` before.
    Each is a stage of the `checkpoint`.
    """
    mesh_of(devices, settings.batch_size)  # what cannot be is told before anything is trained
    rest: dict[str, Any] = {"seed": seed, "groups": groups, "start": start, "callback": callback, "devices": devices}
    rest["checkpoint"] = None if checkpoint is None else checkpoint.stage("training")
    if fraction is not None and start is None and learns_from_all(network, settings, len(data.x)):
        by = judged_by_twins if len(data.x) <= TWINS_ROWS else judged_by_held_out
        judged = by(network, data, settings, fraction, seed, show, devices, checkpoint)
        if judged is not None:
            settings = replace(settings, max_epochs=judged.epochs())
            fitted = fit(network, data.x, data.y, settings, sample_weight=data.weight, **rest)
            calibration = judged.calibration(fitted)
            return replace(fitted, history=_told(fitted.history, judged.scores), calibration=calibration)
    split = None if fraction is None else hold_out(data, fraction, seed)
    if split is None:
        fitted = fit(network, data.x, data.y, settings, sample_weight=data.weight, **rest)
        return replace(fitted, calibration=without_any(fitted, data))
    (x, y, weight), held = split
    fitted = fit(network, x, y, settings, sample_weight=weight, monitor=held.score, **rest)
    return replace(fitted, calibration=held.calibration(fitted))


def learns_from_all(network: Network, settings: Settings, n_rows: int) -> bool:
    """Whether rows held out are learned from in the end: by a regression of few rows, and with all units."""
    few = n_rows <= AGAIN_ROWS
    return few and network.task == "regression" and settings.prior == "gaussian" and not settings.prunes


def judged_by_twins(
    network: Network,
    data: Data,
    settings: Settings,
    fraction: float,
    seed: int,
    show: Callback | None,
    devices: Any = None,
    checkpoint: Checkpoint | None = None,
) -> Judgement | None:
    """By all rows; None if too few of them differ, or a twin goes wrong before it was looked at."""
    del fraction, devices  # folds have a size of their own, and twins, which are small, run beside each other
    held, fold = HeldOut(data, data), folds_of(data, seed)
    if len(np.unique(fold)) < FOLDS:
        return None
    found = looked_at(network, data, settings, fold, seed, show, checkpoint)
    scores = {epoch: held.judge(*look) for epoch, look in zip(looks(settings.max_epochs), found, strict=False)}
    return Judgement(held, scores) if scores else None


def judged_by_held_out(
    network: Network,
    data: Data,
    settings: Settings,
    fraction: float,
    seed: int,
    show: Callback | None,
    devices: Any = None,
    checkpoint: Checkpoint | None = None,
) -> Judgement | None:
    """By a training on the other rows; None if all are needed."""
    split = hold_out(data, fraction, seed)
    if split is None:
        return None
    (x, y, weight), held = split
    rest: dict[str, Any] = {"callback": show, "monitor": held.score, "devices": devices}
    rest["checkpoint"] = None if checkpoint is None else checkpoint.stage("judge", held)
    with part("judge"):
        fitted = fit(network, x, y, settings, seed=seed, sample_weight=weight, **rest)
    scores = {record["epoch"]: record["held_out"] for record in fitted.history}
    return Judgement(held, scores) if scores else None


def _told(history: tuple[dict[str, Any], ...], scores: dict[int, float]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**record, "held_out": scores[record["epoch"]]} if record["epoch"] in scores else record for record in history
    )
