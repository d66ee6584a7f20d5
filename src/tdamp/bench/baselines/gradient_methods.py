"""The gradient methods of the evaluation: Adam, early stopping, group lasso, group SNIP, gradual magnitude pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from ..jobs import Config, Job, Run, n_keep
from ..progress import Tick
from . import unit_scores
from .masked_adam import Fleet, masked, stack, test_loss
from .start import Params
from .unit_masks import best_units, count

RATES = 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, 5e-3
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
            fleet = Fleet(some, widths, batch)
            self.begin(fleet)
            curves: list[list[float]] = [[] for _ in some]
            for epoch in range(epochs):
                fleet.epoch(self.parts, lambda share, epoch=epoch: self.prune(fleet, (epoch + share) / epochs))
                for curve, params, job in zip(curves, fleet.params(), some, strict=True):
                    curve.append(test_loss(params, job.problem))
            for k, job in enumerate(some):
                runs.append(Run(curves[k], count(tuple(mask[k] for mask in fleet.masks))))
                tick(f"{self.label}, keep {job.keep:g}, seed {job.seed}")
        return runs

    def begin(self, fleet: Fleet) -> None:
        """Before training."""

    def prune(self, fleet: Fleet, done: float) -> None:
        """While training, when this share of the epochs is done."""


class GroupSnip(Gradient):
    """Pruned before training by the saliency |gradient x weight|. Lee et al., 2019, summed over outgoing weights."""

    name, label = "group_snip", "group SNIP"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Learning rates."""
        return tuple({"rate": rate} for rate in RATES)

    def begin(self, fleet: Fleet) -> None:
        """Masks from the saliencies of the random start."""
        fleet.masks = stack(
            [
                best_units(unit_scores.saliency(params, job.problem), n_keep(fleet.widths, job.keep))
                for params, job in zip(fleet.params(), fleet.jobs, strict=True)
            ]
        )


class Magnitude(Gradient):
    """Units of the least outgoing energy go during training, on a cubic schedule, then fine-tuning. Zhu, Gupta, 2017.

    The penalty of group lasso may help, so it is on the grid.
    """

    name, label = "magnitude", "gradual magnitude pruning"
    parts = PARTS
    START, END = 0.1, 0.6

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Two rates, three penalties."""
        return tuple({"rate": rate, "penalty": penalty} for rate in (1e-3, 3e-3) for penalty in (0.0, 1e-5, 1e-4))

    def prune(self, fleet: Fleet, done: float) -> None:
        """The units that the schedule wants gone by now."""
        way = min(max((done - self.START) / (self.END - self.START), 0.0), 1.0)
        share = 1 - (1 - way) ** 3
        all_of_them = sum(fleet.widths[:-1])
        masks = []
        for params, job in zip(fleet.params(), fleet.jobs, strict=True):
            remain = round(all_of_them + share * (n_keep(fleet.widths, job.keep) - all_of_them))
            masks.append(best_units(unit_scores.energy(params, job.config["energy"]), remain))
        fleet.masks = stack(masks)


class Adam:
    """Adam at a constant rate; after training the units of the least outgoing energy are switched off.

    Jobs that differ in `keep` alone share one training. The curve shows the network before it is pruned, but for
    its last point.
    """

    name, label = "adam", "Adam, pruned by energy"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Learning rates."""
        return tuple({"rate": rate} for rate in RATES)

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """Every distinct training once, every job from it."""
        distinct = {_training(job): job for job in jobs}
        trained = {}
        keys = list(distinct)
        for start in range(0, len(keys), FLEET):
            some = keys[start : start + FLEET]
            trained |= dict(zip(some, self._fit([distinct[key] for key in some], widths, batch, epochs), strict=True))
        runs = []
        for job in jobs:
            params, curve = trained[_training(job)]
            masks = best_units(unit_scores.energy(params, str(job.config.get("energy", "sum"))), n_keep(widths, job.keep))
            runs.append(Run([*curve[:-1], test_loss(masked(params, masks), job.problem)], count(masks)))
            tick(f"{self.label}, keep {job.keep:g}, seed {job.seed}")
        return runs

    def _fit(
        self, jobs: list[Job], widths: tuple[int, ...], batch: int, epochs: int
    ) -> list[tuple[Params, list[float]]]:
        """The trained network and its test loss by epoch, for each job."""
        fleet = Fleet(jobs, widths, batch)
        curves: list[list[float]] = [[] for _ in jobs]
        for _ in range(epochs):
            fleet.epoch()
            for curve, params, job in zip(curves, fleet.params(), jobs, strict=True):
                curve.append(test_loss(params, job.problem))
        return list(zip(fleet.params(), curves, strict=True))


class GroupLasso(Adam):
    """Adam with a group-lasso penalty, then pruned by energy. Scardapane et al., 2017."""

    name, label = "group_lasso", "Adam + group lasso"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Two rates, three penalties."""
        return tuple({"rate": rate, "penalty": penalty} for rate in (1e-3, 3e-3) for penalty in (1e-5, 1e-4, 1e-3))


class EarlyStop(Adam):
    """Adam that keeps the epoch with the least loss on a tenth of the training rows, which it does not train on."""

    name, label = "early_stop", "Adam, early stopping"
    HELD_OUT = 0.1

    def _fit(
        self, jobs: list[Job], widths: tuple[int, ...], batch: int, epochs: int
    ) -> list[tuple[Params, list[float]]]:
        inner = {
            id(job.problem): job.problem.validation(round(self.HELD_OUT * len(job.problem.x)), seed=1) for job in jobs
        }
        fleet = Fleet([replace(job, problem=inner[id(job.problem)]) for job in jobs], widths, batch)
        best: list[tuple[float, Params]] = [(float("inf"), params) for params in fleet.params()]
        curves: list[list[float]] = [[] for _ in jobs]
        for _ in range(epochs):
            fleet.epoch()
            for k, (job, params) in enumerate(zip(jobs, fleet.params(), strict=True)):
                held_out = test_loss(params, fleet.jobs[k].problem)
                better = held_out < best[k][0]
                if better:
                    best[k] = held_out, params
                curves[k].append(test_loss(params, job.problem) if better or not curves[k] else curves[k][-1])
        return [(params, curve) for (_, params), curve in zip(best, curves, strict=True)]


def _training(job: Job) -> tuple:
    """What tells trainings apart: all but `keep`."""
    return id(job.problem), job.seed, *sorted(job.config.items())
