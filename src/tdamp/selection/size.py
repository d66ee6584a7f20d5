"""The smallest network that rows held out cannot tell from the best: one training on the way from all units to few."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..engine import prune
from ..training.fit import TrainingJob
from .selection import Select, Selection

TRIES = 3
"""Sizes that are tried, each halfway to all units from the one before, if the first one costs more than it seemed."""


def smallest(job: TrainingJob, way: Selection, select: Select) -> Selection | None:
    """The selection for the smallest network whose log score is within a standard error of the best of the `way`, which
    led to the job's goal, and of the network with all units."""
    network, groups = job.network, job.groups
    total = sum(prune.n_groups(network, groups, way.settings.prune_inputs))
    goal: Any = prune.goal_units(way.settings, network, groups)
    loss = way.pruning_loss()
    if loss is None:
        raise ValueError('keep="auto" needs an epoch with all units to compare with: give max_epochs 3 or more')
    left = prune.between(total, goal, loss.harmless)
    for number in range(TRIES):
        if left == goal:
            selection: Selection | None = way
        else:
            selection = select(replace(job, settings=replace(way.settings, keep=left)), name=f"size{number}")
        loss = None if selection is None else selection.pruning_loss()
        if loss is not None and loss.log_score.within(1):
            return selection
        left = round((left + total) / 2)
    return select(replace(job, settings=replace(way.settings, keep=total)), name=f"size{TRIES}")
