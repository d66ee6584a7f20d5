"""The command `tdamp bench accuracy`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from tdamp._optional import need

from ...core import problems, record
from ...core.progress import bar
from ...methods.baselines.adam import LIBRARIES
from . import boston, figure, keep, mnist, table
from .plan import FULL, QUICK, Plan

PARTS = ("mnist", "boston", "keep", *mnist.DEPTHS)
SEEDS = {"mnist": (0, 1, 2), "keep": (0, 1, 2), "boston": ()} | dict.fromkeys(mnist.DEPTHS, (0,))
"""Seeds of each part unless others are asked for; Boston's seeds are its splits."""


def run(
    only: Sequence[str] = PARTS,
    seeds: Sequence[int] | None = None,
    quick: bool = False,
    out: Path = Path("results/accuracy.json"),
    console: Console | None = None,
) -> dict[str, Any]:
    """Run the parts one after the other; the JSON file and the plot are renewed after each."""
    console = console or Console()
    need("torch", "peers", "tdamp-bench")
    plan = QUICK if quick else FULL
    report: dict[str, Any] = {}
    for name in only:
        where = record.surroundings()
        chosen = seeds if seeds is not None else SEEDS[name][: 1 if quick else None]
        body, verdicts = PIECES[name](plan, chosen, console)
        report = record.save(out, "accuracy", {name: record.part(body | {"quick": quick}, verdicts, where)})
        figure.draw(report["parts"], out.with_suffix(".png"))
        table.show(console, name, report["parts"][name])
    console.print(f"Written: {out} and {out.with_suffix('.png')}")
    return report


Piece = tuple[dict[str, Any], list[record.Verdict]]


def _mnist(plan: Plan, seeds: Sequence[int], console: Console) -> Piece:
    problem = problems.mnist(plan.rows, plan.test_rows)
    threads = _torch_threads(problem, (784, *mnist.HIDDEN, 10), plan.batch)
    with bar(console, "MNIST", mnist.run_steps(plan, LIBRARIES, seeds)) as tick:
        result = mnist.run(problem, plan, LIBRARIES, seeds, tick)
    return result | {"torch_threads": threads}, mnist.verdicts(result)


def _depth(hidden: int, plan: Plan, seeds: Sequence[int], console: Console) -> Piece:
    problem = problems.mnist(plan.rows, plan.test_rows)
    with bar(console, f"{hidden} hidden layers", mnist.depth_steps(plan, mnist.DEPTH_LIBRARIES, seeds)) as tick:
        result = mnist.run_depth(problem, plan, mnist.DEPTH_LIBRARIES, seeds, hidden, tick)
    return result, mnist.depth_verdicts(result)


def _keep(plan: Plan, seeds: Sequence[int], console: Console) -> Piece:
    problem = problems.mnist(plan.rows, plan.test_rows)
    with bar(console, "keep", keep.steps(plan, seeds)) as tick:
        result = keep.run(problem, plan, seeds, tick)
    return result, keep.verdicts(result)


def _boston(plan: Plan, seeds: Sequence[int], console: Console) -> Piece:
    splits = problems.boston(plan.boston_splits)
    threads = _torch_threads(splits[0], (13, *boston.HIDDEN, 1), plan.boston_batch)
    with bar(console, "Boston", boston.steps(plan, LIBRARIES)) as tick:
        result = boston.run(splits, plan, LIBRARIES, tick)
    return result | {"torch_threads": threads}, boston.verdicts(result)


def _torch_threads(problem: problems.Problem, widths: tuple[int, ...], batch: int) -> int:
    from ...methods.baselines.adam_torch import choose_threads

    return choose_threads(problem, widths, batch)


PIECES = {"mnist": _mnist, "boston": _boston, "keep": _keep} | {
    name: partial(_depth, hidden) for name, hidden in mnist.DEPTHS.items()
}
