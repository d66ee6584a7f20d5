"""The arms as methods of the evaluation. None is tuned: the presets, and what a configuration changes of them.

They start from tdamp's own preset, or where their name says so from the method as printed (`Settings.paper`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tdamp.engine.settings import Settings

from ..core.jobs import Config, Job, Run
from ..core.progress import Tick
from ..methods.evaluation_presets import PRESETS, paper_settings
from ..methods.tdamp_configurations import Tdamp
from . import loop
from .loop import Arm
from .no_pasp import Minibatches, Whole
from .projection import ProjectEachEpoch, ProjectEachMinibatch
from .rho import FixedRho, PlainEM


def preset(job: Job, batch: int, epochs: int) -> Settings:
    """The data set's preset; with fewer units than all, by the exact rule on its usual schedule.

    Boston's 404 rows are too few to be forgotten within an epoch while units go: its memory is then its data weight.
    """
    regression = job.problem.task == "regression"
    base = replace(PRESETS["boston" if regression else "mnist"], batch_size=batch, max_epochs=epochs)
    if job.keep == 1:
        return base
    return replace(base, keep=job.keep, memory=base.data_weight if regression else None)


class Variant(Tdamp):
    """tdamp with other settings: the configuration holds the fields of `Settings` that differ from the preset."""

    name, label = "tdamp_variant", "tdamp"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """The preset alone."""
        return ({},)

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """The preset with the configuration's fields."""
        fields: dict[str, Any] = job.config
        return replace(preset(job, batch, epochs), **fields)


class Printed(Variant):
    """The method as printed; the configuration holds the fields of `Settings` that differ from it."""

    name, label = "tdamp_printed", "EM-TDAMP as printed"

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """Nothing of tdamp's preset."""
        return paper_settings(job.config, job.keep, batch, epochs)


class Looped(Variant):
    """An arm with a line of its own in the loop; the configuration's `arm` is its name."""

    arms: tuple[str, ...] = ()

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """The first arm alone."""
        return ({"arm": self.arms[0]},)

    def arm(self, job: Job) -> Arm:
        """What runs in the loop."""
        raise NotImplementedError

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """One after the other."""
        runs = []
        for job in jobs:
            if job.config["arm"] not in self.arms:
                raise ValueError(f"{self.name} has no arm {job.config['arm']!r}: expected one of {self.arms}")
            runs.append(loop.train(job, widths, self.settings(job, batch, epochs), self.arm(job)))
            tick(f"{self.label}, {job.config['arm']}, keep {job.keep:g}, seed {job.seed}")
        return runs


PRINTED = "_printed"
"""Ends the names of arms of the method as printed."""


class Turbo(Looped):
    """The group prior with exact messages, or with projections to Gaussians; in tdamp, or in the method as printed."""

    name, label = "tdamp_turbo", "turbo"
    arms = ("turbo", "ep", "ep_epoch", "turbo_printed", "ep_printed", "ep_epoch_printed")

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """Units come in question after the usual warm-up; as printed at the start, at rho_0 also where all may stay."""
        if str(job.config["arm"]).endswith(PRINTED):
            return paper_settings({"init_active_prob": Settings.init_active_prob}, job.keep, batch, epochs)
        return replace(preset(job, batch, epochs), prior="group")

    def arm(self, job: Job) -> Arm:
        """Turbo is the loop as it is."""
        kinds = {"turbo": Arm, "ep": ProjectEachMinibatch, "ep_epoch": ProjectEachEpoch}
        return kinds[str(job.config["arm"]).removesuffix(PRINTED)]()


class Rho(Looped):
    """The method as printed with another rule for rho: fixed at the share to keep, or plain EM from there."""

    name, label = "tdamp_rho", "rule for rho"
    arms = ("fixed", "em")

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """Without a goal, so that nothing is removed."""
        return replace(paper_settings({}, job.keep, batch, epochs), keep=None)

    def arm(self, job: Job) -> Arm:
        """The rule, with the share as its first rho."""
        return FixedRho(job.keep) if job.config["arm"] == "fixed" else PlainEM(job.keep)


WHOLE = {"damping": 0.9, "init_noise": 0.5}
"""Of `Whole`: chosen on validation rows of three Boston splits. With the preset's damping the sweeps do not settle."""


class NoPasp(Looped):
    """Nothing learned is carried from minibatch to minibatch."""

    name, label = "tdamp_no_pasp", "no PasP"
    arms = ("alone", "averaged", "whole")

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """Posterior = first prior times message; one batch of all rows takes the settings that let it settle."""
        base = replace(preset(job, batch, epochs), pasp="paper", centre_rate=0.0)
        whole: dict[str, Any] = WHOLE | {"batch_size": len(job.problem.x), "noise_every": "epoch"}
        return replace(base, **whole) if job.config["arm"] == "whole" else base

    def arm(self, job: Job) -> Arm:
        """One of the three readings."""
        return Whole() if job.config["arm"] == "whole" else Minibatches(job.config["arm"] == "averaged")
