"""TAGI by pytagi 0.1.12 for a regression: one hidden layer of ReLUs, Gaussian noise of a known deviation.

y ~ N(z(x), noise_std^2), a Gaussian posterior for every weight, one analytical update a minibatch. pytagi is told the
noise, so this is tuned for each split, with the number of epochs and, on small tables, the rows of a minibatch: by the
log score of the last fifth of its training rows, which are left out. Then it learns all of its training rows anew. The
prediction is N(mean, var + noise_std^2). Rows beyond the last full minibatch wait for the next epoch, which has another
order. Oracle: a linear function of known noise.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tdamp._optional import need

from ...suites.uci.tasks import Answer, Gaussian, Task
from .start import Orders

pytagi = need("pytagi", "peers", "tdamp-bench")
nn = need("pytagi.nn", "peers", "tdamp-bench")

HELD_OUT = 0.2
"""Share of the training rows on which noise, epochs and minibatches are chosen."""
NOISE_STDS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Targets have deviation one."""


class Effort(NamedTuple):
    """What is tried: epochs after which it is scored, deviations of the noise, rows of a minibatch."""

    checkpoints: tuple[int, ...]
    noise_stds: tuple[float, ...]
    batches: tuple[int, ...]


def effort(rows: int, quick: bool = False) -> Effort:
    """Large tables have fewer epochs and minibatches of one size."""
    if quick:
        return Effort((1, 2), (0.2, 0.5), (10,))
    if rows < 2000:
        return Effort((5, 10, 15, 20, 30, 40, 60, 80, 100), NOISE_STDS, (10, 32))
    return Effort((2, 5, 10, 15, 20, 30, 40, 50), NOISE_STDS, (10,))


def predict(tasks: Sequence[Task], quick: bool = False) -> Iterator[Answer]:
    """One task after the other."""
    for task in tasks:
        started = time.perf_counter()
        work = effort(len(task.x), quick)
        epochs, noise_std, batch = choose(task, work)
        learner = Learner(task.x, task.y, task.hidden, noise_std, batch, task.split)
        learner.train(epochs)
        chosen = {"epochs": epochs, "noise_std": noise_std, "batch": batch}
        yield Answer(learner.predict(task.x_test), time.perf_counter() - started, chosen)


def choose(task: Task, work: Effort) -> tuple[int, float, int]:
    """Epochs, deviation of the noise and rows of a minibatch with the best log score of the last rows."""
    held_out = max(1, round(HELD_OUT * len(task.x)))
    x, y = task.x[:-held_out], task.y[:-held_out]
    best = -np.inf, (work.checkpoints[0], work.noise_stds[0], work.batches[0])
    for noise_std in work.noise_stds:
        for batch in work.batches:
            learner = Learner(x, y, task.hidden, noise_std, batch, task.split)
            for before, epochs in zip((0, *work.checkpoints), work.checkpoints, strict=False):
                learner.train(epochs - before)
                score = learner.predict(task.x[-held_out:]).log_score(task.y[-held_out:])
                best = max(best, (score, (epochs, noise_std, batch)))
    return best[1]


class Learner:
    """A TAGI network in training."""

    def __init__(self, x: np.ndarray, y: np.ndarray, hidden: int, noise_std: float, batch: int, seed: int) -> None:
        pytagi.manual_seed(seed)
        self.x, self.y, self.noise_std, self.batch = x, y, noise_std, min(batch, len(x))
        self.net = nn.Sequential(nn.Linear(x.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.net.set_threads(1)  # layers of this size are not worth a second one
        self.updater = nn.OutputUpdater(self.net.device)
        self.orders = Orders(len(x), seed)

    def train(self, epochs: int) -> None:
        """Learn the rows, in a new order each time."""
        noise_var = np.full(self.batch, self.noise_std**2, np.float32)
        for _ in range(epochs):
            order = next(self.orders)
            for i in range(0, len(order) - self.batch + 1, self.batch):
                rows = order[i : i + self.batch]
                self.net(self.x[rows].ravel())
                states, deltas = self.net.output_z_buffer, self.net.input_delta_z_buffer
                self.updater.update(output_states=states, mu_obs=self.y[rows], var_obs=noise_var, delta_states=deltas)
                self.net.backward()
                self.net.step()

    def predict(self, x: np.ndarray) -> Gaussian:
        """Of new observations. A short last minibatch is filled with rows of zeros, whose outputs are dropped."""
        padded = np.concatenate([x, np.zeros((-len(x) % self.batch, x.shape[1]), x.dtype)])
        outputs = [self.net(padded[i : i + self.batch].ravel()) for i in range(0, len(padded), self.batch)]
        mean, var = (np.concatenate(part)[: len(x)].astype(np.float64) for part in zip(*outputs, strict=True))
        return Gaussian(mean, np.sqrt(var + self.noise_std**2))
