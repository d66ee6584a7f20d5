"""From the list of a figure's curves to its numbers: tune, run what is missing, gather everything the store holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.console import Console

from .groups import Group, groups_of
from .options import DATA, Options
from .plan import Cell, Plan
from .store import Store
from .tasks import Task
from .waiting import waiting


@dataclass(frozen=True)
class Evaluation:
    """All that the store knows about a figure."""

    plan: Plan
    options: Options
    store: Store
    cells: list[Cell]
    """Those with runs."""
    tasks: dict[str, Task]
    labels: dict[str, str]
    """Legend by curve."""
    n_new: int
    """Runs that were not there before."""


def evaluate(plan: Plan, options: Options, console: Console) -> Evaluation:
    """Run what the options ask for and the store lacks; returns everything the store holds."""
    options.check_methods(plan.methods)
    store = Store(options.folder(plan.name) / "runs.jsonl")
    known = len(store.done)
    groups = groups_of(plan, options)
    _adopt(groups, plan, options, store)
    with waiting(console, plan.name, sum(group.n_missing(store) for group in groups)) as tick:
        for group in groups:
            group.run(store, tick)
    store.reload()
    return gather(plan, options, store, len(store.done) - known)


def gather(plan: Plan, options: Options, store: Store, n_new: int = 0) -> Evaluation:
    """The cells that have runs, of all data sets and methods."""
    everything = replace(options, data=DATA, methods=None)
    seen = {(key.data, key.method) for key in store.done}
    evaluation = Evaluation(plan, options, store, [], {}, {}, n_new)
    for group in groups_of(plan, everything, seen):
        for cell in group.cells:
            choice = group.choose(store, cell)
            runs = store.all_seeds(group.test_key(cell, choice, 0)) if choice else []
            if runs:
                evaluation.cells.append(replace(cell, choice=choice, runs=tuple(runs)))
                evaluation.tasks[cell.data] = group.task
                evaluation.labels[cell.curve.title] = cell.curve.label or group.method.label
    return evaluation


def _adopt(groups: list[Group], plan: Plan, options: Options, store: Store) -> None:
    """Take over what sibling figures have: validation runs first, since they decide which test runs are wanted."""
    for name in plan.siblings:
        other = Store(options.folder(name) / "runs.jsonl")
        store.adopt([key for group in groups for key in group.tuning_keys()], other, plan.whole)
        store.adopt([key for group in groups for key in group.test_keys(store)], other, plan.whole)
