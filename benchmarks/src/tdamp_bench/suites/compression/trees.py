"""LightGBM's arm: as many bytes as tdamp's network of the same table and share takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.jobs import Config, Job, Run
from ...figures.tasks import Task
from .outcome import Size, gaussian_nll, of_classes, of_means

BYTES = "bytes"
"""The entry of the configuration that holds the budget."""


class LightGBM:
    """Leaves, rate and number of trees are chosen on an inner split of each training part."""

    name, label = "lightgbm", "LightGBM of as many bytes"

    def __init__(self, budget: Callable[[str, float], int]) -> None:
        self.budget = budget

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """The budget; the rest is chosen within."""
        return ({BYTES: self.budget(data, keep)},)

    def train(self, job: Job, task: Task, held_out: float | None) -> Run:
        """Choose and train."""
        from ...methods.baselines.lightgbm_trees import Trees

        problem = job.problem
        model = Trees(problem, int(job.config[BYTES]), job.seed)
        predicted = np.asarray(model.predict(problem.x_test), np.float64)
        size = Size(sum(2 * leaves - 1 for leaves in model.leaves), 0, model.bytes)
        if problem.task == "classification":
            return of_classes(problem, predicted, size)
        return of_means(problem, predicted, gaussian_nll(problem, predicted, model.choice.loss), size)
