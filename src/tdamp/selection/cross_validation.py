"""A network's twins: each is trained without one fold of the rows.

All start alike and see the rows in the same order, so a twin's prediction of its own fold is what the network would
have said of those rows without them. Every row has one such prediction after every epoch that is looked at: enough to
say when to stop and how wide predictions must be, while the network itself learns from all rows.
Oracle: `training.fit` of each by itself.
"""

from __future__ import annotations

import os
from concurrent.futures import CancelledError, ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np

from ..engine.network import Network
from ..engine.settings import Settings
from ..prediction import batched
from ..training.calibration import Level, Predicted
from ..training.checkpoint import Checkpoint
from ..training.data import Data
from ..training.equal_rows import first_of_kinds
from ..training.events import part
from ..training.fit import fit
from ..training.fitted import Callback, Fitted
from .fold_predictions import Looks, Seen

FOLDS = 5
LOOKS = 25
"""Epochs that are looked at, about, evenly spread: the scores of neighbours hardly differ."""


def looks(max_epochs: int) -> list[int]:
    """The epochs that are looked at, counted from 1; the last one is."""
    return sorted({*range(max_epochs, 0, -max(1, max_epochs // LOOKS))})


def folds_of(data: Data, seed: int) -> np.ndarray:
    """A fold for each row, at random; equal rows share theirs, or a twin would have seen what it is asked, unless they
    repeat by design. Every class is dealt out evenly.
    """
    first, same = first_of_kinds(data.x, data.y)
    label = data.y[first] if data.y.ndim == 1 else np.zeros(len(first), int)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(first)), label))
    fold = np.empty(len(first), int)
    fold[order] = np.arange(len(first)) % FOLDS
    return fold[same]


def looked_at(
    network: Network,
    data: Data,
    settings: Settings,
    fold: np.ndarray,
    seed: int,
    show: Callback | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "twin",
) -> list[tuple[Seen, Level | None]]:
    """After every epoch of `looks`: each row as the twin sees it that was not trained on it, and the twins' level.

    A twin that goes wrong ends the list before its first bad epoch. Twins run in threads of their own; `show` is called
    after the first one's epochs.
    """
    at = looks(settings.max_epochs)
    ended = Event()  # by the user, or by the fault of a twin: then none goes on

    def twin(k: int) -> Looks:
        found = Looks()
        stage = None if checkpoint is None else checkpoint.stage(f"{name}{k}", found)
        unseen, weight = fold == k, data.weight * (fold != k)

        def look(epoch: int, fitted: Fitted, record: dict[str, Any]) -> None:
            if epoch in at:
                found.append(_seen(fitted, data, unseen, weight))
            if show is not None and k == 0:
                show(epoch, fitted, record)
            if ended.is_set():  # this twin has not come to its end: no checkpoint may say so
                raise CancelledError

        with part(f"twin {k + 1}"):
            fit(network, data.x, data.y, settings, seed=seed, sample_weight=weight, callback=look, checkpoint=stage)
        return found

    with ThreadPoolExecutor(min(FOLDS, os.cpu_count() or 1)) as threads:
        try:
            twins = list(threads.map(twin, range(FOLDS)))
        except BaseException:
            ended.set()
            raise
    back = np.argsort(np.argsort(fold, kind="stable"))  # rows fold by fold, and back again
    return [_joined(parts, back) for parts in zip(*twins, strict=False)]


def _seen(fitted: Fitted, data: Data, unseen: np.ndarray, weight: np.ndarray) -> tuple[Seen, Level | None]:
    if fitted.network.task == "classification":
        return batched.log_scores(fitted, data.x[unseen], data.y[unseen]), None
    all_rows = batched.predicted(fitted, data.x)
    return all_rows.of(unseen), all_rows.level(weight)


def _joined(parts: tuple[tuple[Any, Any], ...], back: np.ndarray) -> tuple[Seen, Level | None]:
    found, levels = zip(*parts, strict=True)
    if levels[0] is None:
        return np.concatenate(found)[back], None
    mean, epistemic_var, noise_var, _ = (np.concatenate(a) for a in zip(*found, strict=True))
    return Predicted(mean, epistemic_var, noise_var, found[0].dof).of(back), Level(*np.mean(levels, axis=0))
