"""The smallest network that rows held out cannot tell from the best: one training on the way from all units to few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..engine import prune
from ..engine.settings import Settings
from ..training.fit import TrainingJob
from .selection import Select, Selection

TRIES = 3
"""Sizes that are tried, each halfway to all units from the one before, if the first one costs more than it seemed."""


def smallest(job: TrainingJob, way: Selection, whole: Sequence[Settings], select: Select) -> Selection | None:
    """The selection of the smallest network whose log score is within a standard error of the best.

    The best is one of the `way`, which led to the job's goal, or of the best training by one of the settings of the
    `whole` network, which is the answer if no smaller one is good.
    """
    network, groups = job.network, job.groups
    total = sum(prune.n_groups(network, groups, way.settings.prune_inputs))
    goal: Any = prune.goal_units(way.settings, network, groups)
    if way.pruning_loss() is None:
        raise ValueError('keep="auto" needs an epoch with all units to compare with: give max_epochs 3 or more')
    wholes = [select(replace(job, settings=one), name="whole" * (n + 1)) for n, one in enumerate(whole)]
    best = max((one for one in wholes if one is not None), key=Selection.score, default=None)
    left = prune.between(total, goal, way.furthest())
    for number in range(TRIES):
        if left == goal:
            selection: Selection | None = way
        else:
            selection = select(replace(job, settings=replace(way.settings, keep=left)), name="size" * (number + 1))
        if selection is not None and _is_good(selection, best):
            return selection
        left = round((left + total) / 2)
    return best if best is not None else select(replace(job, settings=replace(way.settings, keep=total)), name="all")


def _is_good(selection: Selection, whole: Selection | None) -> bool:
    """Whether the log score is within a standard error, and what is lost is not worth a warning: against the network
    before its first unit went, and against the whole one."""
    losses = [selection.pruning_loss(), None if whole is None else selection.loss_to(whole)]
    return losses[0] is not None and all(loss is None or loss.negligible for loss in losses)
