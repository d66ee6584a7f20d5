"""AdamW's arms: a network pruned by magnitude while it is trained, and one that is as small from the start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from ...core.jobs import Config, Job, Run, n_keep
from ...core.problems import Problem
from ...figures.tasks import Task
from ...methods.baselines import adam_optax, strong_grids
from ...methods.baselines.adam import Adam, softmax
from ...methods.baselines.gradient_methods import MagnitudeAdamW
from ...methods.baselines.recipe import Recipe, strong
from .ours import INPUT_DROPOUT
from .outcome import Size, gaussian_nll, network_size, of_classes, of_means
from .published import kept_by_layer

SCRATCH = [strong(7e-3, 0.05, 0.0, share) for share in INPUT_DROPOUT]
GRADUAL = [strong(5e-3, 0.05, 0.0, share) for share in INPUT_DROPOUT]
"""For small networks on MNIST: without dropout of hidden units, of which they have none to leave out."""
PENALTY: Config = {"penalty": 1e-5, "energy": "sum"}
"""Of group lasso, and how a unit's energy is taken, on MNIST."""
TRIALS = 3
"""Recipes on the tables, the first of those for Boston."""
LEAST_PART = 1e-9
"""Of the largest column's sum of squares: what is left of a column below this is rounding."""
UNITS = "units"
"""The entry of a configuration that says how many units are to remain."""


class Magnitude:
    """Gradual magnitude pruning by units with AdamW, as in `tdamp reproduce sparsity`, and fine-tuned.

    `units` says how many are to remain where that is not the share `keep`: as many as tdamp's network has.
    """

    name, label = "magnitude", "gradual magnitude pruning, AdamW"

    def __init__(self, units: Callable[[str, float], int] | None = None) -> None:
        self.units = units

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Shares of the inputs that training leaves out; on tables recipes."""
        if self.units is None:
            return tuple(recipe.config | PENALTY for recipe in GRADUAL)
        units = self.units(data, keep)
        return tuple(config | {UNITS: units} for config in strong_grids.pruned("boston", keep)[:TRIALS])

    def train(self, job: Job, task: Task, held_out: float | None) -> Run:
        """One training."""
        units = int(job.config.get(UNITS, n_keep(task.widths, job.keep)))
        job = replace(job, keep=units / sum(task.widths[:-1]))
        *_, fleet = MagnitudeAdamW().trained([job], task.widths, task.batch, task.epochs)
        size = network_size([*(int(mask.sum()) for mask in fleet.left()[0]), task.widths[-1]])
        params = fleet.params()[0]
        return _outcome(job.problem, lambda x: np.asarray(adam_optax.forward(params, jnp.asarray(x))), size, held_out)


class Scratch:
    """AdamW on the published widths from the start, on inputs chosen by least squares: as many units."""

    name, label = "adamw", "AdamW, published widths"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """As many as the others try."""
        return tuple(recipe.config for recipe in SCRATCH)

    def train(self, job: Job, task: Task, held_out: float | None) -> Run:
        """One training."""
        inputs, *hidden = kept_by_layer(task.name, n_keep(task.widths, job.keep))
        widths = (inputs, *hidden, task.widths[-1])
        problem = on_inputs(job.problem, most_telling(job.problem.x, job.problem.y, inputs))
        model = Adam("optax", problem, widths, Recipe.of(job.config), task.batch, job.seed, task.epochs)
        for _ in model.epochs(task.epochs):
            pass
        return _outcome(problem, model.point, network_size(widths), held_out)


def _outcome(problem: Problem, point: Callable[[np.ndarray], np.ndarray], size: Size, held_out: float | None) -> Run:
    """Softmax of the outputs; or means, with the noise that the held-out rows have shown, else the training rows."""
    out = point(problem.x_test)
    if problem.task == "classification":
        return of_classes(problem, softmax(out), size)
    noise_var = float(np.mean((problem.y - point(problem.x)) ** 2)) if held_out is None else held_out
    return of_means(problem, out[:, 0], gaussian_nll(problem, out[:, 0], noise_var), size)


def most_telling(x: np.ndarray, labels: np.ndarray, count: int) -> np.ndarray:
    """The columns that least squares on the classes would take one after the other, in the order of the table.

    Orthogonal least squares (Chen, Billings and Luo, 1989): each step takes the column whose part orthogonal to those
    taken explains most of what is left of the classes. Oracle: a fit by least squares for every column and step.
    """
    y = np.eye(labels.max() + 1)[labels]
    x = np.asarray(x - x.mean(0), np.float64)
    gram, with_y = x.T @ x, x.T @ (y - y.mean(0))
    least = LEAST_PART * gram.diagonal().max()
    taken = np.zeros(x.shape[1], bool)
    for _ in range(count):
        left = gram.diagonal()
        explained = np.where(left > least, np.square(with_y).sum(1) / np.maximum(left, least), 0.0)
        best = int(np.argmax(np.where(taken, -1.0, explained)))
        taken[best] = True
        if left[best] > least:
            column = gram[best] / np.sqrt(left[best])
            with_y = with_y - np.outer(column, with_y[best] / np.sqrt(left[best]))
            gram = gram - np.outer(column, column)
    return np.flatnonzero(taken)


def on_inputs(problem: Problem, columns: np.ndarray) -> Problem:
    """The same with these inputs alone."""
    return replace(problem, x=problem.x[:, columns], x_test=problem.x_test[:, columns])
