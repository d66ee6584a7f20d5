"""Who takes part in which task, and the runs that the store lacks: tuned on validation rows, then tested."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...core.jobs import Job, Run, Tuned
from ...core.progress import Tick
from ...figures import tuning
from ...figures.store import Done, Key, Store, canonical
from ...figures.tasks import Task
from ...figures.tuning import Choice
from .ours import ByLayer, ByTotal, Estimator
from .outcome import EXTRA
from .rivals import Magnitude, Scratch
from .tasks import LENETS, keeps
from .trees import LightGBM


class NoSize(LookupError):
    """A rival is to be as large as a model that has not been trained."""


class Arm(Tuned, Protocol):
    """A way to a small model; `held_out` is the validation loss of the configuration, where several were tried."""

    def train(self, job: Job, task: Task, held_out: float | None) -> Run:
        """One model and its scores."""


@dataclass(frozen=True)
class Cell:
    """An arm at one size of a task."""

    task: Task
    arm: Arm
    keep: float


class Contest:
    """A store of runs and what is asked of it; `n_new` counts the runs made."""

    def __init__(self, store: Store, quick: bool) -> None:
        self.store, self.quick, self.n_new = store, quick, 0

    def arms(self, task: Task) -> list[Arm]:
        """In the order in which they must run: rivals on tables are as large as tdamp's model turned out to be."""
        if task.name in LENETS:
            return [ByTotal(), ByLayer(), Magnitude(), Scratch()]
        return [
            Estimator(self.quick),
            Magnitude(lambda data, keep: max(run.units for run in self._ours(task, keep))),
            LightGBM(lambda data, keep: max(int(run.extra["bytes"][0]) for run in self._ours(task, keep))),
        ]

    def cells(self, task: Task) -> list[Cell]:
        """Of a task, size by size."""
        arms = self.arms(task)
        return [Cell(task, arm, keep) for keep in keeps(task, self.quick) for arm in arms]

    def fill(self, cell: Cell, seeds: Sequence[int], tick: Tick) -> None:
        """Tune, then test every seed."""
        for key in tuning.keys(cell.arm, cell.task, cell.keep, self.quick):
            self._run(cell, key)
        choice = self.choice(cell)
        assert choice is not None, "the validation runs have just been made"
        for seed in seeds:
            self._run(cell, self._key(cell, choice, seed), choice.loss)
            tick(f"{cell.task.name}, {cell.arm.name}, keep {cell.keep:.3g}, seed {seed}")

    def choice(self, cell: Cell) -> Choice | None:
        """The configuration; None while validation runs are missing, or the model that says how large it is to be."""
        try:
            return tuning.choose(self.store, cell.arm, cell.task, cell.keep, self.quick)
        except NoSize:
            return None

    def runs(self, cell: Cell) -> list[Done]:
        """All test runs of the configuration chosen, by seed."""
        choice = self.choice(cell)
        return self.store.all_seeds(self._key(cell, choice, 0)) if choice else []

    def _ours(self, task: Task, keep: float) -> list[Done]:
        runs = self.runs(Cell(task, Estimator(self.quick), keep))
        if not runs:
            raise NoSize(f"{task.name}, keep {keep:g}: there is no run of tdamp's that says how large a rival may be")
        return runs

    def _key(self, cell: Cell, choice: Choice, seed: int) -> Key:
        task = cell.task
        return Key(task.name, cell.arm.name, canonical(choice.config), cell.keep, seed, task.epochs, "test", self.quick)

    def _run(self, cell: Cell, key: Key, held_out: float | None = None) -> None:
        if key not in self.store:
            job = Job(cell.task.problem(key.role, key.seed), key.seed, key.keep, json.loads(key.config))
            started = time.perf_counter()
            run = cell.arm.train(job, cell.task, held_out)
            seconds = time.perf_counter() - started
            self.store.append([Done.of(key, run, seconds, whole=False, extra=EXTRA)])
            self.n_new += 1
