"""The cells of one method on one data set: which runs they need, and running them."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.jobs import Method
from ..core.progress import Tick
from . import tuning
from .batches import run_missing
from .methods import METHODS, load
from .options import Options
from .plan import Cell, Plan
from .store import Key, Store, canonical
from .tasks import Task
from .tuning import Choice

QUICK_KEEPS = (1.0, 0.5)


@dataclass(frozen=True)
class Group:
    """The cells of one method on one data set."""

    plan: Plan
    options: Options
    task: Task
    method: Method
    cells: list[Cell]

    def run(self, store: Store, tick: Tick) -> None:
        """Tune, then test every seed."""
        for keys in (self.tuning_keys, lambda: self.test_keys(store)):
            run_missing(
                keys(),
                store,
                self.method,
                self.task,
                keeps_together=METHODS[self.method.name].keeps_together,
                whole=self.plan.whole,
                extra=self.plan.extra,
                tick=tick,
            )

    def tuning_keys(self) -> list[Key]:
        """Validation runs of the cells whose configuration is not fixed."""
        tuned = [cell for cell in self.cells if cell.curve.config is None]
        return [key for cell in tuned for key in tuning.keys(self.method, self.task, cell.keep, self.options.quick)]

    def test_keys(self, store: Store) -> list[Key]:
        """Test runs of the cells whose configuration is known, seed by seed."""
        known = [(cell, choice) for cell in self.cells if (choice := self.choose(store, cell))]
        return [self.test_key(cell, choice, seed) for seed in range(self.options.seeds) for cell, choice in known]

    def choose(self, store: Store, cell: Cell) -> Choice | None:
        """The configuration of a cell; None while it is not decided."""
        if cell.curve.config is not None:
            return Choice(cell.curve.config, {})
        return tuning.choose(store, self.method, self.task, cell.keep, self.options.quick)

    def test_key(self, cell: Cell, choice: Choice, seed: int) -> Key:
        """The test run of a seed."""
        config = canonical(choice.config)
        return Key(
            self.task.name, self.method.name, config, cell.keep, seed, self.task.epochs, "test", self.options.quick
        )

    def n_missing(self, store: Store) -> int:
        """Runs to come; all seeds of a cell that is still to be tuned."""
        known = self.test_keys(store)
        undecided = len(self.cells) * self.options.seeds - len(known)
        return sum(key not in store for key in {*self.tuning_keys(), *known}) + undecided


def groups_of(plan: Plan, options: Options, only: set[tuple[str, str]] | None = None) -> list[Group]:
    """The figure's cells that the options ask for; `only` narrows them to pairs of data set and method."""
    groups = []
    for data in options.data:
        here = plan.task(data, options.quick)
        for name in options.methods or plan.methods:
            cells = [
                Cell(curve, data, keep)
                for curve in plan.curves
                if curve.method == name and data in curve.data
                for keep in curve.keeps
                if not options.quick or keep in QUICK_KEEPS
            ]
            if cells and (only is None or (data, name) in only):
                groups.append(Group(plan, options, here, load(name), cells))
    return groups
