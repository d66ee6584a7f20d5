"""AMP of Lucibello et al. (2022) as a method of the evaluation: random masks, starts, grid and training.

Paper: C. Lucibello, F. Pittorino, G. Perugini, R. Zecchina, "Deep learning via message passing algorithms based on
belief propagation", Machine Learning: Science and Technology 3 (2022) 035005. The equations are in amp_step.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby, pairwise
from math import inf, isfinite
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tdamp.engine.network import Task
from tdamp.numerics.beliefs import Moments

from ...core.jobs import Config, Job, Run, loss_of, n_keep
from ...core.progress import Tick, silent
from . import amp_step
from .amp_step import Layer
from .start import Orders, minibatches

TOGETHER = 2**16
"""Numbers in the training inputs of all jobs that are computed at once: about a dozen Bostons, or one MNIST."""

Units = tuple[np.ndarray, ...]
"""Numbers of the units that are left: of the inputs, and of every hidden layer."""


def random_units(widths: Sequence[int], keep: float, seed: int) -> Units:
    """A random mask over inputs and hidden units: one of each layer, the others from all that remain."""
    rng = np.random.default_rng((seed, 1))
    layer = np.repeat(np.arange(len(widths) - 1), widths[:-1])
    order = rng.permutation(len(layer))
    _, first = np.unique(layer[order], return_index=True)
    order = np.concatenate([order[first], np.delete(order, first)])
    left = np.sort(order[: n_keep(widths, keep)])
    before = np.cumsum([0, *widths[:-2]])
    return tuple(left[layer[left] == l] - before[l] for l in range(len(widths) - 1))


def start(widths: Sequence[int], units: Units, sizes: Sequence[int], init_var: float, seed: int) -> tuple[Layer, ...]:
    """Layers of the units that are left, filled up to `sizes` with units whose weights are known to be 0.

    Means are N(0, 1 / inputs), biases 0. They are drawn for the whole network: the seed alone decides.
    """
    rng = np.random.default_rng((seed, 2))
    outputs = np.arange(widths[-1])
    layers = []
    for l, (here, above) in enumerate(pairwise((*units, outputs))):
        drawn = rng.standard_normal((widths[l], widths[l + 1]))
        mean, var = np.zeros((2, sizes[l] + 1, sizes[l + 1]), np.float32)
        mean[: len(here), : len(above)] = drawn[np.ix_(here, above)] / np.sqrt(len(here))
        var[: len(here), : len(above)] = var[-1, : len(above)] = init_var / len(here)
        layers.append(Layer(Moments(jnp.asarray(mean), jnp.asarray(var)), jnp.asarray(mean)))
    return tuple(layers)


def scan_epoch(
    task: Task,
    iterations: int,
    layers: tuple[Layer, ...],
    x: Array,
    y: Array,
    rows: Array,
    present: Array,
    noise_var: Array,
) -> tuple[tuple[Layer, ...], Array]:
    """All minibatches of `rows` once, and how many clips a row needed on average."""

    def body(layers: tuple[Layer, ...], batch: tuple[Array, Array]) -> tuple[tuple[Layer, ...], Array]:
        here, mask = batch
        return amp_step.minibatch(task, iterations, layers, x[here], y[here], mask, noise_var)

    layers, clips = jax.lax.scan(body, layers, (rows, present))
    return layers, clips.sum() / present.sum()


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def _epoch_of_all(task: Task, iterations: int, layers: tuple[Layer, ...], *rest: Any) -> tuple[Any, Array]:
    return jax.vmap(partial(scan_epoch, task, iterations))(layers, *rest)


_outputs_of_all = jax.jit(jax.vmap(amp_step.predict))


class Fleet:
    """Jobs in training together, of one number of inner iterations. Arrays are `compact` or of full size."""

    def __init__(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, compact: bool) -> None:
        self.jobs, self.batch = jobs, batch
        self.task, self.iterations = jobs[0].problem.task, int(jobs[0].config["iterations"])
        self.units = [random_units(widths, job.keep, job.seed) for job in jobs]
        largest = [max(map(len, of_layer)) for of_layer in zip(*self.units, strict=True)]
        sizes = (*largest, widths[-1]) if compact else widths
        starts = [
            start(widths, units, sizes, float(job.config["init_var"]), job.seed)
            for job, units in zip(jobs, self.units, strict=True)
        ]
        self.layers = jax.tree.map(lambda *each: jnp.stack(each), *starts)
        self.x, self.x_test = (
            jnp.stack([columns(rows, units[0], sizes[0]) for rows, units in zip(data, self.units, strict=True)])
            for data in ([job.problem.x for job in jobs], [job.problem.x_test for job in jobs])
        )
        self.y = jnp.stack([job.problem.y for job in jobs])
        self.noise_var = jnp.array([job.config.get("noise_var", 0.0) for job in jobs], jnp.float32)
        self.orders = [Orders(len(job.problem.x), job.seed) for job in jobs]

    def epoch(self) -> tuple[list[float], list[float]]:
        """Train for an epoch: the jobs' losses, and their clips per row."""
        rows, present = (
            np.stack(each) for each in zip(*(minibatches(next(o), self.batch) for o in self.orders), strict=True)
        )
        self.layers, clips = _epoch_of_all(
            self.task, self.iterations, self.layers, self.x, self.y, rows, present, self.noise_var
        )
        outputs = np.asarray(_outputs_of_all(self.layers, self.x_test))
        return [loss_of(out, job.problem) for out, job in zip(outputs, self.jobs, strict=True)], clips.tolist()

    def train(self, epochs: int) -> list[Run]:
        """Train for all epochs."""
        runs = [Run([], sum(map(len, units)), {"clips": []}) for units in self.units]
        for epoch in range(1, epochs + 1):
            for run, loss, clips in zip(runs, *self.epoch(), strict=True):
                add(run, epoch, loss, clips)
        return runs


def columns(x: np.ndarray, inputs: np.ndarray, size: int) -> np.ndarray:
    """The columns that are left, filled up with zeros."""
    return np.pad(x[:, inputs], ((0, 0), (0, size - len(inputs))))


def add(run: Run, epoch: int, loss: float, clips: float) -> None:
    """An epoch's loss, infinite from the first one on that is not finite; there are no clips to count after that."""
    if not run.note and not isfinite(loss):
        run.note = f"diverged in epoch {epoch}"
    run.loss.append(inf if run.note else loss)
    run.extra["clips"].append(0.0 if run.note else clips)


class Amp:
    """AMP with a hard argmax output, PasP with rho = 1, damping 0.8 and a random mask over the units."""

    name = "amp"
    label = "AMP (Lucibello et al.)"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Inner iterations, the first variance of a weight times its number of inputs, and Boston's noise variance."""
        if data == "boston":
            once = (1, 0.1, 0.1), (1, 0.3, 0.1), (1, 0.3, 0.3)
            more = (3, 0.03, 0.03), (3, 0.1, 0.1), (3, 0.3, 0.3)
            return tuple({"iterations": i, "init_var": v, "noise_var": n} for i, v, n in once + more)
        options = (1, 1.0), (1, 3.0), (1, 10.0), (1, 30.0), (2, 0.1), (2, 1.0)
        return tuple({"iterations": i, "init_var": v} for i, v in options)

    def train(
        self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick = silent
    ) -> list[Run]:
        """Small problems a dozen at a time, in arrays of one size that are compiled once; large ones one by one."""

        def iterations(k: int) -> int:
            return int(jobs[k].config["iterations"])

        runs: dict[int, Run] = {}
        at_once = max(1, TOGETHER // jobs[0].problem.x.size) if jobs else 1
        for _, same in groupby(sorted(range(len(jobs)), key=iterations), key=iterations):
            members = list(same)
            for some in (members[i : i + at_once] for i in range(0, len(members), at_once)):
                fleet = Fleet([jobs[k] for k in some], widths, batch, compact=at_once == 1)
                runs.update(zip(some, fleet.train(epochs), strict=True))
                for k in some:
                    tick(f"{self.label}, keep {jobs[k].keep:g}, seed {jobs[k].seed}")
        return [runs[k] for k in range(len(jobs))]
