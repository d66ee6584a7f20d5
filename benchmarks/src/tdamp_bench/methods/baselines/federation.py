"""Clients that train on their own rows, and a server that averages what they send: FedAvg, McMahan et al., 2017."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.jobs import Job
from ...core.problems import Problem
from .adam_optax import State, n_steps, regular_of
from .masked_adam import Fleet, Pull
from .start import Orders, Params
from .unit_masks import Masks

LOCAL_EPOCHS = 10
"""Epochs of every client between two averages, as in the paper."""
APART = 1000
"""Client k draws its minibatches with the job's seed + APART k: client 0 draws what centralised training draws."""
FLOAT_BYTES = 4


def shares(problem: Problem, clients: int, seed: int, skew: float | None = None) -> list[np.ndarray]:
    """Row numbers of each client, equally many, ascending; rows % clients rows are left out.

    They are parts of a random permutation; with `skew` each client's classes have proportions of a Dirichlet(skew) of
    its own, as far as there are rows left of a class.
    """
    rows = len(problem.x)
    if not 1 <= clients <= rows:
        raise ValueError(f"{clients} clients cannot share {rows} rows; choose 1 to {rows} clients.")
    rng = np.random.default_rng((seed, 2))
    order = rng.permutation(rows)[: rows - rows % clients]
    if skew is not None:
        order = _by_class(problem.y[order], order, clients, skew, rng)
    return [np.sort(part) for part in order.reshape(clients, -1)]


def _by_class(labels: np.ndarray, order: np.ndarray, clients: int, skew: float, rng: np.random.Generator) -> np.ndarray:
    """The rows client by client, each drawing its classes with probabilities of its own while they last."""
    n_classes = int(labels.max()) + 1
    left = [list(order[labels == c]) for c in range(n_classes)]
    picked = []
    for _ in range(clients):
        wish = rng.dirichlet([skew] * n_classes)
        need = len(order) // clients
        while need:
            there = np.array([len(rows) for rows in left])
            prob = np.where(there > 0, np.maximum(wish, np.finfo(float).tiny), 0)
            drawn = np.minimum(rng.multinomial(need, prob / prob.sum()), there)
            for rows, count in zip(left, drawn, strict=True):
                picked += [rows.pop() for _ in range(count)]
            need -= int(drawn.sum())
    return np.array(picked)


def average(params: Any, rows: Sequence[int]) -> Any:
    """Of the clients, axis 1 of every leaf, weighted by their numbers of rows."""
    weights = np.asarray(rows, np.float32) / sum(rows)
    return jax.tree.map(lambda leaf: jnp.einsum("jk...,k->j...", leaf, weights, precision="highest"), params)


def n_params(masks: Masks, outputs: int) -> int:
    """Weights and biases of the units that are there."""
    widths = [*(int(mask.sum()) for mask in masks), outputs]
    return sum((n_in + 1) * n_out for n_in, n_out in pairwise(widths))


class Federation(Fleet):
    """A fleet of `clients` networks for each job, whose `epoch` is a round; from outside there is one for each job.

    A client begins a round with the server's parameters and its own Adam moments of the round before. `prox` in a
    job's configuration pulls its clients towards the server's parameters: FedProx, Li et al., 2020. A schedule of the
    learning rate lasts for all `rounds`.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        widths: tuple[int, ...],
        batch: int,
        clients: int,
        local_epochs: int = LOCAL_EPOCHS,
        skew: float | None = None,
        rounds: int | None = None,
    ) -> None:
        self.clients, self.local_epochs = clients, local_epochs
        super().__init__([job for job in jobs for _ in range(clients)], widths, batch, rounds)
        self.prox = jnp.asarray([float(job.config.get("prox", 0.0)) for job in self.jobs], jnp.float32)
        self.jobs = jobs
        owned = [
            (job.seed + APART * k, share)
            for job in jobs
            for k, share in enumerate(shares(job.problem, clients, job.seed, skew))
        ]
        self.rows = tuple(len(share) for _, share in owned[:clients])
        self.regular = regular_of(self.recipes, [seed for seed, _ in owned])
        self.orders = [map(share.__getitem__, Orders(len(share), seed)) for seed, share in owned]
        self._bytes: list[list[float]] = [[] for _ in jobs]

    def steps(self, epochs: int) -> int:
        """Of every client, in so many rounds."""
        return n_steps(len(self.jobs[0].problem.x) // self.clients, self.batch, epochs * self.local_epochs)

    def epoch(self, parts: int = 1, after_part: Callable[[float], None] = lambda share: None) -> None:
        """A round: all local epochs, then the average; it has one part."""
        self.pull = Pull(self.prox, self.state.params) if self.prox.any() else None
        for _ in range(self.local_epochs):
            super().epoch()
        self.state = State(_averaged(self.state.params, self.rows), self.state.moments)
        for sent, masks in zip(self._bytes, self.left(), strict=True):
            sent.append(float(2 * FLOAT_BYTES * self.clients * n_params(masks, self.widths[-1])))
        after_part(1.0)

    def keep_only(self, masks: Sequence[Masks]) -> None:
        """From now on the units of these masks alone, one for each job."""
        super().keep_only([each for each in masks for _ in range(self.clients)])

    def left(self) -> list[Masks]:
        """The masks of every job."""
        return super().left()[:: self.clients]

    def params(self) -> list[Params]:
        """The server's network of every job."""
        return super().params()[:: self.clients]

    def extra(self) -> list[dict[str, list[float]]]:
        """`bytes`: what all clients send and receive in a round."""
        return [{"bytes": sent} for sent in self._bytes]


@partial(jax.jit, static_argnums=1)
def _averaged(params: Any, rows: tuple[int, ...]) -> Any:
    """Every client of a job with the average of the job's clients."""
    clients = len(rows)
    by_job = jax.tree.map(lambda leaf: leaf.reshape(-1, clients, *leaf.shape[1:]), params)
    return jax.tree.map(lambda leaf: jnp.repeat(leaf, clients, axis=0), average(by_job, rows))
