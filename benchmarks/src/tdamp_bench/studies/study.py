"""A study: arms measured seed by seed, kept as they are finished, and its files.

A measurement gives named lists of numbers (a single number is a list of one). Finished ones lie in
results/NAME/runs.jsonl, as those of the figures do, and are never taken twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from ..core.jobs import Config
from ..figures import draw
from ..figures.options import DATA, Options, WrongOption
from ..figures.publish import Conclusion, announce, seconds, surroundings
from ..figures.store import Done, Key, Store, canonical
from ..figures.waiting import waiting

Numbers = Mapping[str, Sequence[float] | float]


@dataclass(frozen=True)
class Arm:
    """What is compared on which data; `config` are the columns that tell further arms apart."""

    data: str
    method: str
    config: Config = field(default_factory=dict)


class Study:
    """The measurements of a study and where they are kept; at most `most_seeds` seeds are run."""

    def __init__(self, name: str, options: Options, console: Console, most_seeds: int = 10) -> None:
        if options.data != DATA or options.methods is not None:
            raise WrongOption(f"{name} has data and methods of its own. Leave out --data and --methods.")
        self.name, self.options, self.console = name, options, console
        self.folder = options.folder(name)
        if options.seeds > most_seeds:
            console.print(f"{name}: {most_seeds} seeds are enough; the others are left out.", highlight=False)
        self.seeds = range(min(options.seeds, most_seeds))
        self.store = Store(self.folder / "runs.jsonl")
        self.n_new = 0

    def measured(self, arms: Iterable[Arm], measure: Callable[[Arm, int], Numbers]) -> pd.DataFrame:
        """A row for each arm, seed, number and place in its list (column `at`): what is missing is measured now."""
        keys = {self._key(arm, seed): arm for seed in self.seeds for arm in arms}
        missing = [key for key in keys if key not in self.store]
        self.n_new += len(missing)
        with waiting(self.console, self.name, len(missing)) as tick:
            for key in missing:
                started = time.perf_counter()
                numbers = {name: np.ravel(values).tolist() for name, values in measure(keys[key], key.seed).items()}
                spent = float(f"{time.perf_counter() - started:.3g}")
                self.store.append([Done(key, [], 0, spent, _rounded(numbers))])
                tick(f"{key.data}, {key.method}")
        rows = [
            {"data": arm.data, "method": arm.method, **arm.config, "seed": key.seed}
            | {"number": name, "at": at, "value": value}
            for key, arm in keys.items()
            for name, values in self.store.done[key].extra.items()
            for at, value in enumerate(values)
        ]
        return pd.DataFrame(rows)

    def publish(
        self,
        points: pd.DataFrame,
        panels: Sequence[draw.Panel],
        conclusions: Sequence[Conclusion],
        more: dict[str, Any] | None = None,
        styles: Mapping[str, draw.Style] = draw.STYLES,
    ) -> None:
        """Picture, CSV and JSON, and what was found in words."""
        draw.figure(panels, self.folder / self.name, styles)
        data = sorted({key.data for key in self.store.done})
        body = {
            "figure": self.name,
            "quick": self.options.quick,
            "surroundings": surroundings(self.folder / f"{self.name}.json", self.n_new),
            "cells": [{"data": name, "seeds": len(self.seeds)} for name in data],
            "seconds": seconds(self.store),
            **(more or {}),
        }
        announce(self.folder, self.name, body, points, conclusions, self.console)

    def _key(self, arm: Arm, seed: int) -> Key:
        return Key(arm.data, arm.method, canonical(arm.config), 1.0, seed, 0, "test", self.options.quick)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard error of the mean (NaN for one seed) and number of seeds, of every arm, number and place."""
    by = [column for column in runs.columns if column not in ("seed", "value")]
    table = runs.groupby(by, sort=False, dropna=False)["value"].agg(["mean", "sem", "count"]).reset_index()
    return table.rename(columns={"sem": "se", "count": "n"})


def paired(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[float, float]:
    """Mean over seeds of ours minus theirs, and its standard error; each has one value a seed."""
    difference = ours.set_index("seed")["value"] - theirs.set_index("seed")["value"]
    return float(difference.mean()), float(difference.sem())


def _rounded(numbers: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [float(f"{value:.6g}") for value in values] for name, values in numbers.items()}
