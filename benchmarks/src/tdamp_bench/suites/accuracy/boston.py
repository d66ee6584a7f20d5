"""Boston, 13-64-64-1, random splits: NMSE by epoch beside the whole grids of plain Adams and of AdamW."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import presets
from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.record import Verdict
from ...figures.paired import gap
from ...methods.baselines.recipe import Recipe
from ...methods.baselines.strong_grids import STRONG
from .contest import STRONG_ADAM, Rival, means, train_adam, train_ours
from .plan import Plan

HIDDEN = (64, 64)
CHECKPOINTS = (5, 10, 20, 50, 100)


def run(problems: Sequence[Problem], plan: Plan, libraries: Sequence[str], tick: Tick = silent) -> dict[str, Any]:
    """tdamp on every split, and every Adam of the grid; seed k on split k."""
    widths = (problems[0].x.shape[1], *HIDDEN, problems[0].y.shape[1])
    ours = [
        train_ours(problem, widths, presets.BOSTON, plan.boston_epochs, seed, _every(plan.boston_epochs, tick))[0]
        for seed, problem in enumerate(problems)
    ]
    adams = {
        name: adam_grid(rival, problems, widths, plan, tick) for name, rival in grids(libraries, plan.rates).items()
    }
    return {
        "config": {
            "widths": widths,
            "splits": len(problems),
            "rows": len(problems[0].x),
            "test_rows": len(problems[0].x_test),
            "batch": plan.boston_batch,
            "epochs": plan.boston_epochs,
        },
        "runs": {"tdamp": ours},
        "mean": {"tdamp": means(ours)},
        "adam": adams,
    }


def grids(libraries: Sequence[str], rates: Sequence[float]) -> dict[str, Rival]:
    """Each library's plain Adam, by its name, and AdamW where there is one."""
    rivals = {library: Rival(library, tuple(map(Recipe, rates))) for library in libraries}
    return rivals | ({STRONG_ADAM: Rival("optax", STRONG["boston"])} if "optax" in libraries else {})


def adam_grid(
    rival: Rival, problems: Sequence[Problem], widths: tuple[int, ...], plan: Plan, tick: Tick = silent
) -> dict[str, Any]:
    """Validation and test NMSE of every recipe, split and epoch; the one chosen on validation; the test envelope."""
    held_out = [problem.validation(round(plan.boston_validation * len(problem.x)), seed=0) for problem in problems]
    validation = _curves(rival, held_out, widths, plan, tick)
    test = _curves(rival, problems, widths, plan, tick)
    chosen = int(np.argmin(validation.mean(0)[:, -1]))
    names = [str(recipe) for recipe in rival.recipes]
    return {
        "chosen": rival.recipes[chosen].rate,
        "recipe": rival.recipes[chosen].config,
        "by": f"mean over splits of validation NMSE after epoch {plan.boston_epochs}, "
        f"{plan.boston_validation:.0%} of the training rows",
        "validation_mean": dict(zip(names, validation.mean(0), strict=True)),
        "test_by_split": dict(zip(names, test.transpose(1, 0, 2), strict=True)),
        "test_mean": dict(zip(names, test.mean(0), strict=True)),
        "chosen_test_mean": test.mean(0)[chosen],
        "envelope": test.mean(0).min(0),
    }


def _curves(rival: Rival, problems: Sequence[Problem], widths: tuple[int, ...], plan: Plan, tick: Tick) -> np.ndarray:
    """NMSE, (splits, recipes, epochs)."""
    library, recipes = rival.library, rival.recipes
    if library == "optax":
        from ...methods.baselines.adam_grid import nmse_curves

        grid = nmse_curves(problems, widths, recipes, plan.boston_batch, plan.boston_epochs)
        for seed in range(len(problems)):
            tick(f"Adam (optax), all recipes, split {seed}")
        return grid
    errors = []
    for seed, problem in enumerate(problems):
        runs = [
            train_adam(library, problem, widths, recipe, plan.boston_batch, plan.boston_epochs, seed)
            for recipe in recipes
        ]
        errors.append([run["nmse"] for run in runs])
        tick(f"Adam ({library}), all recipes, split {seed}")
    return np.array(errors)


def _every(count: int, tick: Tick) -> Tick:
    """A tick that passes on every `count`-th call."""
    calls = 0

    def counted(what: str) -> None:
        nonlocal calls
        calls += 1
        if calls % count == 0:
            tick(what)

    return counted


def steps(plan: Plan, libraries: Sequence[str]) -> int:
    """Ticks of `run`: one for each split of tdamp, and two (validation, test) for each split of an Adam."""
    return plan.boston_splits * (1 + 2 * len(grids(libraries, plan.rates)))


def verdicts(result: dict[str, Any]) -> list[Verdict]:
    """tdamp against the best plain Adam, any rate and library, at each checkpoint; against AdamW after the last epoch.

    Split by split. The plain Adam is the one whose test mean is least there, AdamW the one chosen by validation.
    """
    ours = np.array([run["nmse"] for run in result["runs"]["tdamp"]])
    plain = [curves for name, judged in result["adam"].items() if name != STRONG_ADAM for curves in _by_recipe(judged)]
    judged = []
    for epoch in (epoch for epoch in CHECKPOINTS if plain and epoch <= ours.shape[1]):
        best = min(plain, key=lambda curves: curves[:, epoch - 1].mean())
        claim = f"Boston NMSE after {epoch} epochs is below the best plain Adam's there"
        judged.append(gap(ours[:, epoch - 1], best[:, epoch - 1]).verdict(claim))
    if STRONG_ADAM in result["adam"]:
        strong = result["adam"][STRONG_ADAM]
        theirs = np.array(strong["test_by_split"][str(Recipe.of(strong["recipe"]))])
        claim = f"Boston NMSE after {ours.shape[1]} epochs is below AdamW's"
        judged.append(gap(ours[:, -1], theirs[:, -1]).verdict(claim))
    return judged


def _by_recipe(library: dict[str, Any]) -> list[np.ndarray]:
    """NMSE of each recipe, (splits, epochs)."""
    return [np.array(curves) for curves in library["test_by_split"].values()]
