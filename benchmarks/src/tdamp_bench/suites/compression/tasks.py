"""What is compressed: two networks on MNIST at the published sizes, and networks on six tables at three shares."""

from __future__ import annotations

from functools import partial

from ...core import problems
from ...core.problems import Problem
from ...core.wheel_tables import TABLES, load_table
from ...figures.tasks import MNIST_VALIDATION, Role, Task
from .published import points_of

LENETS = {"lenet_300_100": (784, 300, 100, 10), "lenet_500_300": (784, 500, 300, 10)}
PARTS = {"mnist": tuple(LENETS), "tables": tuple(TABLES)}
TITLES = {
    "lenet_300_100": "LeNet-300-100",
    "lenet_500_300": "LeNet-500-300",
}
HIDDEN = 64, 64
"""Of the tables' networks at the start: the estimators' own."""
KEEPS = 0.5, 0.3, 0.1
TEST_SHARE = 0.2
BATCH = 100
EPOCHS = {"mnist": 30, "tables": 100}
QUICK_EPOCHS = 3
QUICK_ROWS = 600, 300
"""Training and test rows of a quick run."""
QUICK = {"mnist": ("lenet_300_100",), "tables": ("airfoil", "segment")}


def keeps(task: Task, quick: bool) -> tuple[float, ...]:
    """Shares of the units that are to remain: the published counts, or the tables' shares; a quick run has one."""
    total = sum(task.widths[:-1])
    shares = tuple(point.units / total for point in points_of(task.name)) or KEEPS
    return shares[:1] if quick else shares


def task_of(name: str, quick: bool) -> Task:
    """The task of that name."""
    return _lenet(name, quick) if name in LENETS else _table(name, quick)


def _task(name: str, part: str, loss: str, widths: tuple[int, ...], quick: bool, make: partial[Problem]) -> Task:
    return Task(
        name=name,
        title=TITLES.get(name, name),
        loss=loss,
        percent="error" in loss,
        widths=widths,
        batch=BATCH,
        epochs=QUICK_EPOCHS if quick else EPOCHS[part],
        tuning_seeds=(0,),
        small=False,
        make=make,
        problem_of=(lambda seed: 0) if part == "mnist" else lambda seed: seed,
    )


def _lenet(name: str, quick: bool) -> Task:
    return _task(name, "mnist", "test error", LENETS[name], quick, partial(_digits, quick))


def _digits(quick: bool, role: Role, seed: int) -> Problem:
    digits = problems.mnist(*QUICK_ROWS) if quick else problems.mnist()
    return digits if role == "test" else digits.validation(QUICK_ROWS[1] if quick else MNIST_VALIDATION)


def _table(name: str, quick: bool) -> Task:
    """Random splits 80 / 20; seed k has a split of its own, and is tuned on a fifth of split 0's training rows."""
    data = TABLES[name]
    outputs = 1 if data.task == "regression" else len(set(load_table(name).y.tolist()))
    loss = "1 - R2" if data.task == "regression" else "test error"
    return _task(name, "tables", loss, (data.inputs, *HIDDEN, outputs), quick, partial(_split, name, quick))


def _split(name: str, quick: bool, role: Role, seed: int) -> Problem:
    table = load_table(name)
    problem = problems.split(table, TABLES[name].task, round(TEST_SHARE * len(table.x)), seed)
    problem = problem.first(*QUICK_ROWS) if quick else problem
    return problem if role == "test" else problem.validation(round(TEST_SHARE * len(problem.x)))
