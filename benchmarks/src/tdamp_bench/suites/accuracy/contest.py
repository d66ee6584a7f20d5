"""tdamp beside Adam on one problem: Adam's recipe by a validation split, then every seed, every epoch.

Plain Adams choose among learning rates. AdamW with cosine decay, weight decay and dropout chooses among six recipes, as
many as tdamp's grids have in the paper's evaluation; tdamp itself has one preset here. In the middle of a schedule an
AdamW is worse than one whose schedule ends there: for some epochs there is one of these too, which chooses for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tdamp.engine.settings import Settings

from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.scoring import append, at, mean_curve, score
from ...figures.paired import Gap, gap
from ...methods import tdamp as ours
from ...methods.baselines.adam import Adam
from ...methods.baselines.recipe import Recipe
from ...methods.baselines.strong_grids import STRONG

Run = dict[str, Any]
STRONG_ADAM = "adamw"
"""AdamW's name among the runs; plain Adams are called after their library."""


def shorter_adam(epoch: int) -> str:
    """The name of the AdamW whose schedule ends after fewer epochs than the others are trained for."""
    return f"{STRONG_ADAM}_{epoch}"


def train_ours(
    problem: Problem, widths: tuple[int, ...], settings: Settings, epochs: int, seed: int, tick: Tick = silent
) -> tuple[Run, ours.Ours]:
    """One fit of tdamp: scores, seconds and units left after every epoch, and the model."""
    run: Run = {"seed": seed}

    def on_epoch(epoch: int, model: ours.Ours, seconds: float) -> None:
        append(run, score(model, problem) | {"seconds": seconds, "units": model.n_units})
        tick(f"tdamp, seed {seed}, epoch {epoch}")

    settings = replace(settings, max_epochs=epochs)
    model = ours.train(problem, widths, settings, seed, on_epoch)
    run["settings"] = str(settings)
    run["outcome"] = str(model.fitted.outcome)
    return run, model


def train_adam(
    library: str,
    problem: Problem,
    widths: tuple[int, ...],
    recipe: float | Recipe,
    batch: int,
    epochs: int,
    seed: int,
    tick: Tick = silent,
) -> Run:
    """One training by Adam: scores and seconds of every epoch."""
    recipe = Recipe.of(recipe)
    run: Run = {"seed": seed, **recipe.config}
    model = Adam(library, problem, widths, recipe, batch, seed, epochs)
    for epoch, seconds in enumerate(model.epochs(epochs), start=1):
        append(run, score(model, problem) | {"seconds": seconds})
        tick(f"Adam ({library}), rate {recipe}, seed {seed}, epoch {epoch}")
    return run


class Rival(NamedTuple):
    """An Adam: the library that computes it, and the recipes that it chooses from."""

    library: str
    recipes: tuple[Recipe, ...]
    ends: int | None = None
    """After how many epochs, if not after all."""


def rivals_of(
    libraries: Sequence[str], rates: Sequence[float], shorter: Sequence[int] = (), grid: str = "mnist"
) -> dict[str, Rival]:
    """Each library's plain Adam, and where there is one AdamW, also with schedules that end after `shorter` epochs."""
    plain = tuple(Recipe(rate) for rate in rates)
    rivals = {f"adam_{library}": Rival(library, plain) for library in libraries}
    if "optax" not in libraries:
        return rivals
    strong = Rival("optax", STRONG[grid])
    return rivals | {STRONG_ADAM: strong} | {shorter_adam(epoch): strong._replace(ends=epoch) for epoch in shorter}


def choose_recipe(
    rival: Rival,
    problem: Problem,
    widths: tuple[int, ...],
    batch: int,
    epochs: int,
    validation_rows: int,
    tick: Tick = silent,
) -> dict[str, Any]:
    """The recipe with the least validation error after `epochs` epochs, on held-out training rows; seed 0."""
    held_out = problem.validation(validation_rows)
    runs = [train_adam(rival.library, held_out, widths, recipe, batch, epochs, 0, tick) for recipe in rival.recipes]
    final = [run["error"][-1] for run in runs]
    chosen = rival.recipes[int(np.argmin(final))]
    return {
        "chosen": chosen.rate,
        "recipe": chosen.config,
        "by": f"validation error after epoch {epochs}, last {validation_rows} training rows of a seeded permutation",
        "validation": {str(recipe): run["error"] for recipe, run in zip(rival.recipes, runs, strict=True)},
    }


class Rules(NamedTuple):
    """How a contest is run: plain Adams choose among `rates` and AdamW among `STRONG[grid]`, by `validation_rows` held
    out and after `grid_epochs` epochs; AdamW is also trained with schedules that end after `shorter` epochs."""

    rates: Sequence[float]
    batch: int
    epochs: int
    grid_epochs: int
    validation_rows: int
    seeds: Sequence[int]
    shorter: Sequence[int] = ()
    grid: str = "mnist"


def contest(
    problem: Problem,
    widths: tuple[int, ...],
    arms: Mapping[str, Settings],
    libraries: Sequence[str],
    rules: Rules,
    tick: Tick = silent,
) -> dict[str, Any]:
    """All contenders on one classification problem: configuration, chosen recipes, runs, mean curves.

    `arms` are tdamp's settings by name.
    """
    batch, epochs, seeds = rules.batch, rules.epochs, rules.seeds
    runs = {
        name: [train_ours(problem, widths, settings, epochs, seed, tick)[0] for seed in seeds]
        for name, settings in arms.items()
    }
    chosen = {}
    for name, rival in rivals_of(libraries, rules.rates, rules.shorter, rules.grid).items():
        tried = rival.ends or rules.grid_epochs
        choice = choose_recipe(rival, problem, widths, batch, tried, rules.validation_rows, tick)
        chosen[name], recipe = choice, Recipe.of(choice["recipe"])
        runs[name] = [
            train_adam(rival.library, problem, widths, recipe, batch, rival.ends or epochs, seed, tick)
            for seed in seeds
        ]
    return {
        "config": {
            "widths": widths,
            "rows": len(problem.x),
            "test_rows": len(problem.x_test),
            "batch": batch,
            "epochs": epochs,
            "seeds": list(seeds),
        },
        "learning_rates": chosen,
        "runs": runs,
        "mean": {name: means(each) for name, each in runs.items()},
    }


def against(result: dict[str, Any], rival: str, epoch: int, arm: str = "tdamp", key: str = "error") -> Gap:
    """tdamp's error (or NLL) by its predictive distribution against a rival's after an epoch, seed by seed."""
    ours, theirs = result["runs"][arm], result["runs"][rival]
    own = "error_predictive" if key == "error" else key
    return gap([at(run[own], epoch) for run in ours], [at(run[key], epoch) for run in theirs])


def means(runs: Sequence[Run]) -> dict[str, list[float]]:
    """Mean over seeds of every per-epoch list."""
    keys = [key for key, value in runs[0].items() if isinstance(value, list)]
    return {key: mean_curve(runs, key).tolist() for key in keys}


def steps(libraries: Sequence[str], rules: Rules, arms: int = 1) -> int:
    """How often a contest ticks."""
    rivals = rivals_of(libraries, rules.rates, rules.shorter, rules.grid).values()
    tried = sum(len(rival.recipes) * (rival.ends or rules.grid_epochs) for rival in rivals)
    return len(rules.seeds) * (rules.epochs * arms + sum(rival.ends or rules.epochs for rival in rivals)) + tried
