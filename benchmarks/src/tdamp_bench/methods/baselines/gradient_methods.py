"""The gradient methods of the evaluation: Adam, early stopping, group lasso, group SNIP, gradual magnitude pruning.

The paper's are plain Adam's; AdamW with cosine decay, weight decay and dropout is the stronger rival, alone and pruned
gradually. Their grids stand in `strong_grids`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from ...core.jobs import Config, Job, Run, n_keep
from ...core.progress import Tick
from . import strong_grids, unit_scores
from .masked_adam import Fleet, pruned, test_loss
from .start import Params
from .unit_masks import best_of_those_left, best_units, count

RATES = {"mnist": (5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2), "boston": (3e-3, 5e-3, 1e-2, 2e-2, 3e-2, 5e-2)}
MIDDLE_RATES = {"mnist": (1e-3, 2e-3, 3e-3), "boston": (1e-2, 2e-2, 3e-2)}
PENALISED = {
    "mnist": ((1e-3, 3e-6), (1e-3, 1e-5), (3e-3, 1e-4), (1e-3, 3e-4), (1e-3, 1e-3), (1e-3, 3e-3)),
    "boston": ((1e-2, 1e-3), (1e-2, 3e-3), (1e-2, 1e-2), (1e-2, 3e-2), (1e-2, 1e-1), (2e-2, 1e-3)),
}
GRADUAL = {
    "mnist": (
        (1e-3, 0.0, "sum"), (3e-3, 0.0, "sum"), (3e-3, 1e-5, "sum"), (5e-3, 1e-5, "sum"), (1e-3, 1e-5, "mean"),
        (3e-3, 1e-5, "mean"),
    ),
    "boston": (
        (1e-2, 1e-4, "sum"), (1e-2, 1e-3, "sum"), (1e-2, 3e-3, "sum"), (1e-2, 1e-3, "mean"), (2e-2, 1e-4, "sum"),
        (2e-2, 1e-3, "sum"),
    ),
}  # fmt: skip
FLEET = 10
"""Networks trained together at most."""
PARTS = 8
"""Gradual pruning removes units this many times an epoch, as tdamp does."""


class Gradient:
    """What the methods share: jobs are trained together, a fleet at a time, and scored after every epoch."""

    name: ClassVar[str]
    label: ClassVar[str]
    parts: ClassVar[int] = 1

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """Every job."""
        runs = []
        for start in range(0, len(jobs), FLEET):
            some = jobs[start : start + FLEET]
            curves: list[list[float]] = [[] for _ in some]
            for fleet in self.trained(some, widths, batch, epochs):
                for curve, params, job in zip(curves, fleet.params(), some, strict=True):
                    curve.append(test_loss(params, job.problem))
            for job, curve, masks, extra in zip(some, curves, fleet.left(), fleet.extra(), strict=True):
                runs.append(Run(curve, count(masks), extra))
                tick(f"{self.label}, keep {job.keep:g}, seed {job.seed}")
        return runs

    def trained(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int) -> Iterator[Fleet]:
        """The same networks after each epoch."""
        fleet = self.fleet(jobs, widths, batch, epochs)
        self.begin(fleet)
        for epoch in range(epochs):
            fleet.epoch(self.parts, partial(self.prune, fleet, epoch, epochs))
            yield fleet

    def fleet(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int | None = None) -> Fleet:
        """The networks, before training."""
        return Fleet(jobs, widths, batch, epochs)

    def begin(self, fleet: Fleet) -> None:
        """Before training."""

    def prune(self, fleet: Fleet, epoch: int, epochs: int, share: float) -> None:
        """While training, when this share of an epoch (counted from 0) is done."""


class GroupSnip(Gradient):
    """Pruned before training by the saliency |gradient x weight|. Lee et al., 2019, summed over outgoing weights."""

    name, label = "group_snip", "group SNIP"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Learning rates."""
        return tuple({"rate": rate} for rate in RATES[data])

    def begin(self, fleet: Fleet) -> None:
        """Masks from the saliencies of the random start."""
        fleet.keep_only(
            [
                best_units(self.saliency(params, job), n_keep(fleet.widths, job.keep))
                for params, job in zip(fleet.params(), fleet.jobs, strict=True)
            ]
        )

    def saliency(self, params: Params, job: Job) -> list[np.ndarray]:
        """By what units are ranked."""
        return unit_scores.saliency(params, job.problem)


class Magnitude(Gradient):
    """Units of the least outgoing energy go during training, on a cubic schedule, then fine-tuning. Zhu, Gupta, 2017.

    The penalty of group lasso may help, so it is on the grid.
    """

    name, label = "magnitude", "gradual magnitude pruning"
    parts = PARTS
    START, END = 0.1, 0.6

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Rates, penalties, and the sum or mean of squares as energy."""
        return tuple({"rate": r, "penalty": p, "energy": e} for r, p, e in GRADUAL[data])

    def prune(self, fleet: Fleet, epoch: int, epochs: int, share: float) -> None:
        """The units that the schedule wants gone by now."""
        way = min(max(((epoch + share) / epochs - self.START) / (self.END - self.START), 0.0), 1.0)
        gone = 1 - (1 - way) ** 3
        all_of_them = sum(fleet.widths[:-1])
        masks = []
        for params, known, job in zip(fleet.params(), fleet.left(), fleet.jobs, strict=True):
            remain = round(all_of_them + gone * (n_keep(fleet.widths, job.keep) - all_of_them))
            masks.append(best_of_those_left(known, _energy(params, job), remain))
        fleet.keep_only(masks)


class MagnitudeAdamW(Magnitude):
    """The same with AdamW: the schedule goes on while units go, and fine-tunes what is left."""

    name, label = "magnitude_adamw", "gradual magnitude pruning, AdamW"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Rates, weight decays and dropout; the sum or mean of squares as energy."""
        return strong_grids.pruned(data, keep)


class Trained(NamedTuple):
    """A network that is still to be pruned, its test loss by epoch, and further lists by epoch."""

    params: Params
    curve: list[float]
    extra: dict[str, list[float]]


class Adam:
    """Adam at a constant rate; after training the units of the least outgoing energy are switched off.

    Jobs that differ in `keep` alone share one training. The curve shows the network before it is pruned, but for
    its last point.
    """

    name, label = "adam", "Adam, pruned by energy"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Learning rates; to prune, fewer of them and the sum or mean of squares as energy."""
        if keep == 1:
            return tuple({"rate": rate} for rate in RATES[data])
        return tuple({"rate": rate, "energy": by} for rate in MIDDLE_RATES[data] for by in ("sum", "mean"))

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """Every distinct training once, every job from it."""
        distinct = {_training(job): job for job in jobs}
        trained: dict[tuple, Trained] = {}
        keys = list(distinct)
        for start in range(0, len(keys), FLEET):
            some = keys[start : start + FLEET]
            trained |= dict(zip(some, self._fit([distinct[key] for key in some], widths, batch, epochs), strict=True))
        runs = []
        for job in jobs:
            params, curve, extra = trained[_training(job)]
            masks = best_units(_energy(params, job), n_keep(widths, job.keep))
            runs.append(Run([*curve[:-1], test_loss(pruned(params, masks), job.problem)], count(masks), dict(extra)))
            tick(f"{self.label}, keep {job.keep:g}, seed {job.seed}")
        return runs

    def fleet(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int | None = None) -> Fleet:
        """The networks, before training."""
        return Fleet(jobs, widths, batch, epochs)

    def _fit(self, jobs: list[Job], widths: tuple[int, ...], batch: int, epochs: int) -> list[Trained]:
        """The trained network of each job."""
        fleet = self.fleet(jobs, widths, batch, epochs)
        curves: list[list[float]] = [[] for _ in jobs]
        for _ in range(epochs):
            fleet.epoch()
            for curve, params, job in zip(curves, fleet.params(), jobs, strict=True):
                curve.append(test_loss(params, job.problem))
        return [Trained(*each) for each in zip(fleet.params(), curves, fleet.extra(), strict=True)]


class GroupLasso(Adam):
    """Adam with a group-lasso penalty, then pruned by energy. Scardapane et al., 2017."""

    name, label = "group_lasso", "Adam + group lasso"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Rates and penalties."""
        return tuple({"rate": rate, "penalty": penalty} for rate, penalty in PENALISED[data])


class AdamW(Adam):
    """AdamW with cosine decay over all epochs, weight decay and dropout, then pruned by energy."""

    name, label = "adamw", "AdamW, cosine decay, dropout"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Rates, weight decays and dropout."""
        return tuple(recipe.config for recipe in strong_grids.FIGURES[data])


class EarlyStop(Adam):
    """Adam that keeps the epoch with the least loss on a tenth of the training rows, which it does not train on."""

    name, label = "early_stop", "Adam, early stopping"
    HELD_OUT = 0.1

    def _fit(self, jobs: list[Job], widths: tuple[int, ...], batch: int, epochs: int) -> list[Trained]:
        inner = {
            id(job.problem): job.problem.validation(round(self.HELD_OUT * len(job.problem.x)), seed=1) for job in jobs
        }
        fleet = self.fleet([replace(job, problem=inner[id(job.problem)]) for job in jobs], widths, batch, epochs)
        best: list[tuple[float, Params]] = [(float("inf"), params) for params in fleet.params()]
        curves: list[list[float]] = [[] for _ in jobs]
        for _ in range(epochs):
            fleet.epoch()
            for k, (job, params) in enumerate(zip(jobs, fleet.params(), strict=True)):
                held_out = test_loss(params, fleet.jobs[k].problem)
                better = not curves[k] or held_out < best[k][0]
                if better:
                    best[k] = held_out, params
                curves[k].append(test_loss(params, job.problem) if better else curves[k][-1])
        return [Trained(params, curve, {}) for (_, params), curve in zip(best, curves, strict=True)]


def _energy(params: Params, job: Job) -> list[np.ndarray]:
    return unit_scores.energy(params, str(job.config.get("energy", "sum")))


def _training(job: Job) -> tuple:
    """What tells trainings apart: all but `keep`."""
    return id(job.problem), job.seed, *sorted(job.config.items())
