"""tdamp beside Adam on one problem: Adam's learning rate by a validation split, then every seed, every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...algorithm import Settings
from .. import ours
from ..baselines.adam import Adam
from ..problems import Problem
from ..progress import Tick, silent
from ..scoring import append, mean_curve, score

Run = dict[str, Any]


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
    rate: float,
    batch: int,
    epochs: int,
    seed: int,
    tick: Tick = silent,
) -> Run:
    """One training by Adam: scores and seconds of every epoch."""
    run: Run = {"seed": seed, "rate": rate}
    model = Adam(library, problem, widths, rate, batch, seed)
    for epoch, seconds in enumerate(model.epochs(epochs), start=1):
        append(run, score(model, problem) | {"seconds": seconds})
        tick(f"Adam ({library}), rate {rate:g}, seed {seed}, epoch {epoch}")
    return run


def choose_rate(
    library: str,
    problem: Problem,
    widths: tuple[int, ...],
    rates: Sequence[float],
    batch: int,
    epochs: int,
    validation_rows: int,
    tick: Tick = silent,
) -> dict[str, Any]:
    """The rate with the least validation error after `epochs` epochs, on held-out training rows; seed 0."""
    held_out = problem.validation(validation_rows)
    runs = [train_adam(library, held_out, widths, rate, batch, epochs, 0, tick) for rate in rates]
    final = [run["error"][-1] for run in runs]
    return {
        "chosen": rates[int(np.argmin(final))],
        "by": f"validation error after epoch {epochs}, last {validation_rows} training rows of a seeded permutation",
        "validation": {f"{rate:g}": run["error"] for rate, run in zip(rates, runs, strict=True)},
    }


def contest(
    problem: Problem,
    widths: tuple[int, ...],
    settings: Settings,
    libraries: Sequence[str],
    *,
    rates: Sequence[float],
    batch: int,
    epochs: int,
    grid_epochs: int,
    validation_rows: int,
    seeds: Sequence[int],
    tick: Tick = silent,
) -> dict[str, Any]:
    """All contenders on one classification problem: configuration, chosen rates, runs, mean curves."""
    runs = {"tdamp": [train_ours(problem, widths, settings, epochs, seed, tick)[0] for seed in seeds]}
    chosen = {}
    for library in libraries:
        found = choose_rate(library, problem, widths, rates, batch, grid_epochs, validation_rows, tick)
        chosen[library] = found
        runs[f"adam_{library}"] = [
            train_adam(library, problem, widths, found["chosen"], batch, epochs, seed, tick) for seed in seeds
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
        "mean": {name: means(found) for name, found in runs.items()},
    }


def means(runs: Sequence[Run]) -> dict[str, list[float]]:
    """Mean over seeds of every per-epoch list."""
    keys = [key for key, value in runs[0].items() if isinstance(value, list)]
    return {key: mean_curve(runs, key).tolist() for key in keys}


def steps(libraries: Sequence[str], rates: Sequence[float], epochs: int, grid_epochs: int, seeds: Sequence[int]) -> int:
    """How often a contest ticks."""
    return len(seeds) * epochs * (1 + len(libraries)) + len(libraries) * len(rates) * grid_epochs
