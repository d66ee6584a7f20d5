"""Every method's configuration is chosen on held-out training rows, with the same budget for all."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from ..core.jobs import Config, Tuned
from .store import Key, Store, canonical
from .tasks import Task

BUDGET = 6
"""Configurations that a method may try for one data set and share of units."""


class OverBudget(ValueError):
    """A method asks for more configurations than the others have."""


@dataclass(frozen=True)
class Choice:
    """A configuration and why: the mean final validation loss of every candidate; empty where there was no choice."""

    config: Config
    losses: dict[str, float]

    @property
    def loss(self) -> float | None:
        """Validation loss of the chosen one."""
        return self.losses.get(canonical(self.config))


def grid(method: Tuned, task: Task, keep: float, quick: bool) -> tuple[Config, ...]:
    """The method's candidates; a quick run takes the first alone."""
    options = method.grid(task.name, keep)
    if not 1 <= len(options) <= BUDGET:
        raise OverBudget(
            f"{method.name} has {len(options)} configurations for {task.name} at keep {keep:g}; "
            f"1 to {BUDGET} are allowed, the same for every method. Shorten its grid."
        )
    return options[:1] if quick else options


def keys(method: Tuned, task: Task, keep: float, quick: bool) -> list[Key]:
    """The validation runs that a choice needs; none where there is nothing to choose."""
    candidates = grid(method, task, keep, quick)
    if len(candidates) == 1:
        return []
    return [_key(method, task, config, keep, seed, quick) for config in candidates for seed in task.tuning_seeds]


def choose(store: Store, method: Tuned, task: Task, keep: float, quick: bool) -> Choice | None:
    """The candidate with the least mean of final validation losses; None while runs are missing.

    An infinite loss loses; of equals the first wins.
    """
    if any(key not in store for key in keys(method, task, keep, quick)):
        return None
    candidates = grid(method, task, keep, quick)
    if len(candidates) == 1:
        return Choice(candidates[0], {})
    losses = {}
    for config in candidates:
        runs = [store.done[_key(method, task, config, keep, seed, quick)] for seed in task.tuning_seeds]
        losses[canonical(config)] = math.fsum(run.loss[-1] for run in runs) / len(runs)
    return Choice(json.loads(min(losses, key=lambda config: losses[config])), losses)


def _key(method: Tuned, task: Task, config: Config, keep: float, seed: int, quick: bool) -> Key:
    return Key(task.name, method.name, canonical(config), keep, seed, task.epochs, "validation", quick)
