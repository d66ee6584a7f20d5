"""A table's fit: rows that are kept from a training judge it, and then they are learned from, too.

How long to train and how wide to predict is told by twins that leave a fold of the rows out (small tables), or by rows
held out of a first training. A network with all its units is then trained on every row; all others are trained once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings
from ..training.calibration import Calibration
from ..training.checkpoint import Checkpoint
from ..training.data import Data
from ..training.devices import mesh_of
from ..training.events import part
from ..training.fit import fit
from ..training.fitted import Callback, Fitted
from .cross_validation import FOLDS, folds_of, looked_at, looks
from .held_out import HeldOut, carried, followed, hold_out, without_any

TWINS_ROWS = 3000
"""Up to so many rows a network is judged by twins: they cost five trainings."""
AGAIN_ROWS = 100_000
"""Up to so many rows it is trained again on all of them."""


class Judgement(NamedTuple):
    """What rows not trained on have said."""

    held: HeldOut
    scores: dict[int, float]  # mean log score by epoch, look by look

    def epochs(self) -> int:
        """To train for."""
        return list(self.scores)[self.held.latest_good()]

    def score(self) -> float:
        """Mean log score after so many epochs."""
        return self.scores[self.epochs()]

    def calibration(self, fitted: Fitted) -> Calibration | None:
        """Of a network trained for so long on all rows."""
        return self.held.calibration_at(self.held.latest_good(), fitted)


def fit_table(
    network: Network,
    data: Data,
    settings: Settings,
    *,
    fraction: float | None,
    seed: int,
    groups: np.ndarray | None = None,
    start: Fitted | None = None,
    streams: bool = False,
    callback: Callback | None = None,
    show: Callback | None = None,
    devices: Any = None,
    checkpoint: Checkpoint | None = None,
    others: Sequence[Settings] = (),
) -> tuple[Fitted, Settings]:
    """Train on rows in the engine's units, `fraction` of which may be held out (None: none), and calibrate.

    Where rows that are held out are learned from in the end, they also choose between `settings` and `others`; what was
    chosen comes back, too.
    A training that goes on from a `start` holds out what `start` is known not to have learned from, or nothing. Where
    it `streams` all rows are new to `start`, and are foretold before they are learned from.
    Where there are several trainings `callback` is called in the last one, whose posterior it is, and `show` before.
    Each is a stage of the `checkpoint`.
    """
    mesh_of(devices, settings.batch_size)  # what cannot be is told before anything is trained
    rest: dict[str, Any] = {"seed": seed, "groups": groups, "start": start, "callback": callback, "devices": devices}
    rest["checkpoint"] = None if checkpoint is None else checkpoint.stage("training")
    if fraction is not None and start is None and learns_from_all(network, settings, len(data.x)):
        by = judged_by_twins if len(data.x) <= TWINS_ROWS else judged_by_held_out
        candidates = settings, *others
        how = fraction, seed, show, devices, checkpoint
        found = [by(network, data, each, *how, number) for number, each in enumerate(candidates)]
        judged, settings = max(zip(found, candidates, strict=True), key=lambda pair: _score(pair[0]))
        if judged is not None:
            last = replace(settings, max_epochs=judged.epochs())
            fitted = fit(network, data.x, data.y, last, sample_weight=data.weight, **rest)
            history, by_rows = _told(fitted.history, judged.scores), judged.calibration(fitted)
            return replace(fitted, history=history, calibration=by_rows), settings
    split = None if fraction is None else hold_out(data, fraction, seed, start)
    if split is None:
        fitted = fit(network, data.x, data.y, settings, sample_weight=data.weight, **rest)
        if start is None:
            return replace(fitted, calibration=without_any(fitted, data)), settings
        return replace(fitted, calibration=(followed if streams else carried)(fitted, data, start)), settings
    (x, y, weight), held = split
    fitted = fit(network, x, y, settings, sample_weight=weight, monitor=held.score, **rest)
    return replace(fitted, calibration=held.calibration(fitted), unseen=np.unique(held.kinds)), settings


def learns_from_all(network: Network, settings: Settings, n_rows: int) -> bool:
    """Whether rows held out are learned from in the end: by a network of all its units, if they are not too many."""
    return n_rows <= AGAIN_ROWS and settings.prior == "gaussian" and not settings.prunes


def judged_by_twins(
    network: Network,
    data: Data,
    settings: Settings,
    fraction: float,
    seed: int,
    show: Callback | None,
    devices: Any = None,
    checkpoint: Checkpoint | None = None,
    number: int = 0,
) -> Judgement | None:
    """By all rows; None if too few of them differ, or a twin goes wrong before it was looked at."""
    del fraction, devices  # folds have a size of their own, and twins, which are small, run beside each other
    held, fold = HeldOut(data, data), folds_of(data, seed)
    if len(np.unique(fold)) < FOLDS:
        return None
    found = looked_at(network, data, settings, fold, seed, show, checkpoint, f"{'other' * number}twin")
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
    number: int = 0,
) -> Judgement | None:
    """By a training on the other rows; None if all are needed."""
    split = hold_out(data, fraction, seed)
    if split is None:
        return None
    (x, y, weight), held = split
    rest: dict[str, Any] = {"callback": show, "monitor": held.score, "devices": devices}
    rest["checkpoint"] = None if checkpoint is None else checkpoint.stage(f"judge{number or ''}", held)
    with part("judge"):
        fitted = fit(network, x, y, settings, seed=seed, sample_weight=weight, **rest)
    scores = {record["epoch"]: record["held_out"] for record in fitted.history}
    return Judgement(held, scores) if scores else None


def _score(judged: Judgement | None) -> float:
    return -inf if judged is None else judged.score()


def _told(history: tuple[dict[str, Any], ...], scores: dict[int, float]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**record, "held_out": scores[record["epoch"]]} if record["epoch"] in scores else record for record in history
    )
