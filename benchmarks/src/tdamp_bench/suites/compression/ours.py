"""tdamp's arms: pruned in one training to a number of units, or to the published layers; and estimators on tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tdamp.engine.settings import Settings
from tdamp.estimators import TDAMPClassifier, TDAMPRegressor

from ...core import presets
from ...core.jobs import Config, Job, Run, n_keep
from ...figures.tasks import Task
from ...methods import tdamp
from ..accuracy.keep import WrongCount
from .outcome import network_size, of_classes, of_means
from .published import kept_by_layer

INPUT_DROPOUT = 0.0, 0.1, 0.2
"""What every arm on MNIST is tuned over, for each size; all else was set on the same validation rows before.

With LeNet-300-100, 389 units (AdamW also 201) and seed 0: for tdamp in ten tries, for gradual magnitude pruning in six,
for AdamW in thirteen, after those for 784-128-10 (`strong_grids`).
"""
POSTERIOR = 2
"""Numbers for each weight and bias: mean and variance."""


class ByTotal:
    """The number of units; the training decides where they are. Predicts with the posterior."""

    name, label = "tdamp", "tdamp"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Shares of the inputs that training leaves out."""
        return tuple({"input_dropout": share} for share in INPUT_DROPOUT)

    def goal(self, task: Task, units: int) -> int | tuple[float, ...]:
        """What is asked for, as `Settings.keep`."""
        return units

    def train(self, job: Job, task: Task, held_out: float | None) -> Run:
        """One training."""
        model = tdamp.train(job.problem, task.widths, self.settings(job, task), job.seed, lambda *_: None)
        if model.n_units != n_keep(task.widths, job.keep):
            raise WrongCount(f"{task.name}: {model.n_units} units are left, not {n_keep(task.widths, job.keep)}")
        return of_classes(job.problem, model.predictive(job.problem.x_test), network_size(model.widths, POSTERIOR))

    def settings(self, job: Job, task: Task) -> Settings:
        """The annealed schedule, with the exact goal."""
        goal = self.goal(task, n_keep(task.widths, job.keep))
        share = float(job.config["input_dropout"])
        return replace(presets.annealed(task.epochs), batch_size=task.batch, input_dropout=share, keep=goal)


class ByLayer(ByTotal):
    """The published number of units in every layer."""

    name, label = "tdamp_by_layer", "tdamp, published layers"

    def goal(self, task: Task, units: int) -> tuple[float, ...]:
        """Shares of the layers."""
        kept = kept_by_layer(task.name, units)
        return tuple(some / width for some, width in zip(kept, task.widths, strict=False))


class Estimator:
    """`TDAMPRegressor` and `TDAMPClassifier` as they come: nothing is set but `keep` and the random seed."""

    name, label = "tdamp", "tdamp, defaults"

    def __init__(self, quick: bool) -> None:
        self.only_quick = {"max_epochs": 3} if quick else {}

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Nothing to choose."""
        return ({},)

    def train(self, job: Job, task: Task, held_out: float | None) -> Run:
        """One fit."""
        problem, kind = job.problem, KINDS[job.problem.task]
        model = kind(task.widths[1:-1], keep=job.keep, random_state=job.seed, **self.only_quick)
        model.fit(problem.x, problem.y if task.percent else problem.y[:, 0])
        size = network_size(model.fitted_.network.widths, POSTERIOR)
        if isinstance(model, TDAMPClassifier):
            return of_classes(problem, model.predict_proba(problem.x_test), size)
        nll = -model.log_score(problem.x_test, problem.y_test[:, 0])
        return of_means(problem, model.predict(problem.x_test), nll, size)


KINDS: dict[str, Callable[..., TDAMPRegressor | TDAMPClassifier]] = {
    "regression": TDAMPRegressor,
    "classification": TDAMPClassifier,
}
