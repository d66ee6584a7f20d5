"""Adam in PyTorch, as an ordinary eager training loop; the data are a tensor in memory."""

from __future__ import annotations

import os
import time

import numpy as np

from tdamp._optional import need

from ...core.problems import Problem
from .recipe import Recipe
from .start import he_init

torch = need("torch", "peers", "tdamp-bench")


class Learner:
    """A network in training."""

    def __init__(
        self,
        problem: Problem,
        widths: tuple[int, ...],
        recipe: float | Recipe,
        batch: int,
        seed: int,
        epochs: int | None = None,
    ) -> None:
        recipe = Recipe.of(recipe)
        if not recipe.plain:
            raise ValueError(f"Adam in PyTorch is plain here, not {recipe}: take optax.")
        classes = problem.task == "classification"
        self.batch = batch
        self.x = torch.from_numpy(np.array(problem.x, np.float32))
        self.y = torch.from_numpy(np.array(problem.y, np.int64 if classes else np.float32))
        layers: list = []
        for weight, bias in he_init(widths, seed):
            linear = torch.nn.Linear(*weight.shape)
            with torch.no_grad():
                linear.weight.copy_(torch.from_numpy(weight.T.copy()))
                linear.bias.copy_(torch.from_numpy(bias))
            layers += [linear, torch.nn.ReLU()]
        self.net = torch.nn.Sequential(*layers[:-1])
        self.loss = torch.nn.CrossEntropyLoss() if classes else torch.nn.MSELoss()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=recipe.rate)

    def epoch(self, order: np.ndarray) -> None:
        """Train on the rows in this order."""
        for rows in torch.from_numpy(order).split(self.batch):
            self.optimizer.zero_grad()
            self.loss(self.net(self.x[rows]), self.y[rows]).backward()
            self.optimizer.step()

    def point(self, x: np.ndarray) -> np.ndarray:
        """Network outputs."""
        with torch.no_grad():
            return self.net(torch.from_numpy(np.ascontiguousarray(x, np.float32))).numpy()


def choose_threads(problem: Problem, widths: tuple[int, ...], batch: int, steps: int = 50) -> int:
    """Let PyTorch use one thread or all of them, whichever is faster for this network; returns the number.

    On small products a second thread often costs more than it gives, so the default would not be fair to it.
    """
    learner = Learner(problem, widths, 1e-3, batch, seed=0)
    order = np.arange(len(problem.x))[: steps * batch]
    seconds = {}
    for count in {1, os.cpu_count() or 1}:
        torch.set_num_threads(count)
        learner.epoch(order[:batch])
        started = time.perf_counter()
        learner.epoch(order)
        seconds[count] = time.perf_counter() - started
    best = min(seconds, key=lambda count: seconds[count])
    torch.set_num_threads(best)
    return best
