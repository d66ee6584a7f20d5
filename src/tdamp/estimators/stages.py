"""The stages of a training that prunes: all units learn, units go, the others learn anew.

Rows held out judge the network before and after (`selection.pruning`). While units go the data count little and the
posterior forgets fast, so that the units that remain can take over; then the schedule of the first stage is run again.
How fast it is to forget depends on the noise: what a network has learned of a clean target takes long to be learned
again, what it has learned of a noisy one is better forgotten. Rows held out decide.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engine.settings import PRUNING_DATA_WEIGHT, PRUNING_MEMORY, Settings

LONGER = 2.5
"""A training that prunes has so many times the epochs of one that does not, unless it is told how many."""
BEFORE, DURING = 0.4, 0.2
"""Shares of a training's epochs that belong to the first stage, and to the second, in which units go."""
REST = 0.2
"""Share of the second stage in which no unit goes yet: the posterior comes to rest, so that epochs compare."""
LEAD, LEAST = 0.25, 0.3
"""Data weights grow during LEAD of the last stage, from LEAST of their values to all of them: noisy tables want it."""


LONG_MEMORY = 3.0
"""Epochs that the posterior of a regression remembers while units go, if rows held out prefer it to PRUNING_MEMORY. On
inner splits of two clean tables R2 with 0.3 of the groups was .911 and .951 (.869 and .927), of a noisy one .08 (.19);
in three classifications PRUNING_MEMORY was better in two and no worse in the third."""


def staged(settings: Settings, max_epochs: int | None = None, memory: float = PRUNING_MEMORY) -> Settings:
    """Settings of a training that does not prune as the first and last stage of one that does, of `max_epochs`.

    While units go the posterior remembers `memory` epochs.
    """
    total = round(LONGER * settings.max_epochs) if max_epochs is None else max_epochs
    before, during = int(BEFORE * total), max(round(DURING * total), 1)
    after = total - before - during
    first, last = _stretched(settings, before), _stretched(settings, after)
    lead = LEAST ** np.clip(1 - np.arange(after) / max(LEAD * after, 1), 0, 1)
    weights = [settings.data_weight_at(epoch) for epoch in first]
    weights += [min(settings.data_weight_at(0), PRUNING_DATA_WEIGHT)] * during
    weights += [float(share) * settings.data_weight_at(epoch) for share, epoch in zip(lead, last, strict=True)]
    before_and_during = [settings.memory_at(epoch) for epoch in first] + [memory] * during
    return replace(
        settings,
        max_epochs=total,
        data_weight=tuple(weights),
        memory=(*before_and_during, *(settings.memory_at(epoch) for epoch in last)),
        prune_start=(before + round(REST * during)) / total,
        prune_end=(before + during) / total,
    )


def _stretched(settings: Settings, epochs: int) -> list[int]:
    """The epochs of the settings, counted from 0, that a stage of so many goes through."""
    return [round(epoch * (settings.max_epochs - 1) / max(epochs - 1, 1)) for epoch in range(epochs)]
