"""The federated methods of the evaluation: FedAvg around Adam, group lasso and group SNIP, and FedProx.

The `epochs` of a training are its rounds, of `LOCAL_EPOCHS` epochs of every client each. The grids are those of
centralised training unless stated: a client makes about as many steps. On MNIST FedAvg likes higher rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tdamp.engine.network import Task

from ...core.jobs import Config, Job
from . import unit_scores
from .federation import LOCAL_EPOCHS, Federation, shares
from .gradient_methods import PENALISED, Adam, AdamW, GroupLasso, GroupSnip
from .start import Params

CLIENTS: dict[Task, int] = {"regression": 4, "classification": 10}
"""As many as in the paper: 4 for Boston, 10 for MNIST."""
SKEW = 0.1
"""Of the methods on clients with skewed labels: Dirichlet(0.1), most clients have one to three classes."""
PULLED = {
    "mnist": [(rate, prox) for rate in (3e-3, 5e-3) for prox in (1e-3, 1e-2, 1e-1)],
    "mnist, skewed": [(rate, prox) for rate in (1e-3, 3e-3) for prox in (1e-3, 1e-2, 1e-1)],
    "boston": [(rate, prox) for rate in (1e-2, 2e-2) for prox in (1e-2, 1e-1, 1.0)],
}
"""FedProx's rates and strengths."""
PENALISED_CLIENTS = {
    **PENALISED,
    "mnist": ((5e-3, 1e-5), (5e-3, 1e-4), (3e-3, 1e-4), (3e-3, 3e-4), (3e-3, 1e-3), (1e-3, 1e-3)),
}
"""Group lasso's rates and penalties."""


class Federated:
    """Trains a federation where the method that it is mixed into would train a fleet; `clients` are the task's own."""

    skew: float | None = None

    def __init__(self, clients: int | None = None, local_epochs: int = LOCAL_EPOCHS) -> None:
        self.clients, self.local_epochs = clients, local_epochs

    def n_clients(self, job: Job) -> int:
        """For a job's data."""
        return self.clients or CLIENTS[job.problem.task]

    def fleet(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int | None = None) -> Federation:
        """The clients of all jobs; `epochs` are rounds."""
        return Federation(jobs, widths, batch, self.n_clients(jobs[0]), self.local_epochs, self.skew, epochs)


class FedAvgAdam(Federated, Adam):
    """Adam at the clients; after the last round the units of the least outgoing energy are switched off."""

    name, label = "fedavg_adam", "FedAvg + Adam"


class FedAvgAdamW(Federated, AdamW):
    """AdamW with weight decay and dropout at the clients, its rate's cosine decay over all rounds."""

    name, label = "fedavg_adamw", "FedAvg + AdamW, cosine decay, dropout"


class FedAvgGroupLasso(Federated, GroupLasso):
    """Adam with a group-lasso penalty at the clients, pruned by energy after the last round."""

    name, label = "fedavg_group_lasso", "FedAvg + group lasso"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Rates and penalties."""
        return tuple({"rate": rate, "penalty": penalty} for rate, penalty in PENALISED_CLIENTS[data])


class FedAvgGroupSnip(Federated, GroupSnip):
    """Pruned before the first round by the mean of the clients' saliencies at the server's start."""

    name, label = "fedavg_group_snip", "FedAvg + group SNIP"

    def saliency(self, params: Params, job: Job) -> list[np.ndarray]:
        """The clients' mean; their shares are equal."""
        problem = job.problem
        each = [
            unit_scores.saliency(params, replace(problem, x=problem.x[share], y=problem.y[share]))
            for share in shares(problem, self.n_clients(job), job.seed)
        ]
        return [np.mean(layer, axis=0) for layer in zip(*each, strict=True)]


class FedProx(FedAvgAdam):
    """FedAvg whose clients are pulled towards the server's parameters: (prox / 2) |parameters - server's|^2."""

    name, label = "fedprox", "FedProx + Adam"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """Two rates, three strengths of the pull."""
        return tuple({"rate": rate, "prox": prox} for rate, prox in PULLED[data])


class SkewedFedAvg(FedAvgAdam):
    """The same, on clients with skewed labels."""

    name, label, skew = "fedavg_adam_skewed", "FedAvg + Adam", SKEW


class SkewedFedAvgAdamW(FedAvgAdamW):
    """The same, with the same recipes to choose from, on clients with skewed labels."""

    name, label, skew = "fedavg_adamw_skewed", "FedAvg + AdamW, cosine decay, dropout", SKEW


class SkewedFedProx(FedProx):
    """The same, on clients with skewed labels."""

    name, label, skew = "fedprox_skewed", "FedProx + Adam", SKEW

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """As FedProx's, with lower rates on MNIST."""
        pulled = PULLED.get(f"{data}, skewed", PULLED[data])
        return tuple({"rate": rate, "prox": prox} for rate, prox in pulled)
