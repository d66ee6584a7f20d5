"""Which sizes are tried for keep="auto", with trainings made by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.selection.held_out import HeldOut
from tdamp.selection.selection import Selection
from tdamp.selection.size import TRIES, smallest
from tdamp.selection.snapshots import Judged
from tdamp.training.data import Data
from tdamp.training.fit import TrainingJob

ROWS = 40
DATA = Data(np.random.default_rng(0).normal(size=(ROWS, 4)), (np.arange(ROWS) % 2).astype(np.int32), np.ones(ROWS))
SETTINGS = Settings(max_epochs=8, keep=2, prune_start=0.25, prune_end=0.75)
NETWORK = Network((4, 12, 2), "classification")
JOB = TrainingJob(NETWORK, DATA, SETTINGS)
TOTAL = 16
DROP = np.linspace(0.05, 0.15, ROWS)
"""A loss that no chance explains, other for each row."""


def trained(keep: Any, levels: list[float], data_weight: float = 1.0) -> Selection:
    """A training of these mean log scores by epoch."""
    held = HeldOut(DATA, DATA)
    for level in levels:
        held.add(Judged(-1 + level * DROP, np.zeros(ROWS)), None)
    scores = {epoch: float(-1 + level * DROP.mean()) for epoch, level in enumerate(levels, start=1)}
    return Selection(held, scores, _settings(keep, data_weight))


def _settings(keep: Any, data_weight: float) -> Settings:
    return Settings(max_epochs=8, keep=keep, prune_start=0.25, prune_end=0.75, data_weight=data_weight)


WHOLE = trained(None, [0.0] * 8)


def tried(way: Selection, levels: list[float], *whole: Selection) -> tuple[list[int], Selection | None]:
    """The sizes that are trained beside the way, each with these scores, and the selection."""
    sizes: list[int] = []
    by_settings = {one.settings: one for one in whole or (WHOLE,)}

    def select(job: TrainingJob, name: str) -> Selection:
        if job.settings in by_settings:
            return by_settings[job.settings]
        sizes.append(job.settings.keep)  # type: ignore[arg-type]
        return trained(job.settings.keep, levels)

    return sizes, smallest(JOB, way, list(by_settings), select)


def test_a_goal_that_costs_nothing() -> None:
    """contract: the way itself, without another training."""
    way = trained(2, [0.0] * 8)
    assert tried(way, [0.0] * 8) == ([], way)


def test_sizes_that_cost() -> None:
    """identity: each is halfway to all units from the one before; after the last try the whole network is chosen."""
    way, lost = trained(2, [0, 0, -5, -6, -7, -9, -9, -9]), [0, 0, -1, -2, -3, -3, -3, -3]
    sizes, selection = tried(way, lost)
    assert len(sizes) == TRIES and selection is WHOLE
    assert all(after == round((before + TOTAL) / 2) for before, after in pairwise(sizes))


def test_a_whole_network_that_cannot_be_trained() -> None:
    """contract: sizes are compared with the way alone; if none is good, one more training goes by its settings."""
    sizes: list[int] = []

    def select(job: TrainingJob, name: str) -> Selection | None:
        if name == "whole":
            return None
        sizes.append(job.settings.keep)  # type: ignore[arg-type]
        return trained(job.settings.keep, [0, 0, -1, -2, -3, -3, -3, -3])

    good = trained(2, [0.0] * 8)
    assert smallest(JOB, good, [WHOLE.settings], select) is good and not sizes
    lost = smallest(JOB, trained(2, [0, 0, -5, -6, -7, -9, -9, -9]), [WHOLE.settings], select)
    assert lost is not None and lost.settings.keep == sizes[-1] == TOTAL and len(sizes) == TRIES + 1


@pytest.mark.parametrize(("level", "chosen"), [(1.0, False), (-1.0, True)])
def test_a_whole_network_that_is_better(level: float, chosen: bool) -> None:
    """contract: a way that loses nothing of its own start may still lose against a training with all units."""
    way, whole = trained(2, [0.0] * 8), trained(None, [level] * 8)
    assert tried(way, [0.0] * 8, whole)[1] is (way if chosen else whole)


@pytest.mark.parametrize("first", [True, False])
def test_the_better_of_two_whole_networks_counts(first: bool) -> None:
    """contract: a fit without a goal chooses among schedules, and keep="auto" is compared with what it chose."""
    good, bad = trained(None, [1.0] * 8, 2.0), trained(None, [-1.0] * 8, 3.0)
    pair = (good, bad) if first else (bad, good)
    assert tried(trained(2, [0.0] * 8), [0.0] * 8, *pair)[1] is good
    assert tried(trained(2, [0.0] * 8), [0.0] * 8, bad)[1] is not bad


def test_without_an_epoch_to_compare_with() -> None:
    """contract: an error that says what to give."""
    with pytest.raises(ValueError, match="max_epochs 3 or more"):
        tried(Selection(HeldOut(DATA, DATA), {}, Settings(keep=None)), [0.0])
