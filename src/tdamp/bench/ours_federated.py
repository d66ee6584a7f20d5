"""tdamp as a federation in the paper's evaluation: K = 4 clients for Boston, 10 for MNIST, 10 local epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..checks import check_data
from ..federated.client import Client
from ..federated.joint import fitted_of
from ..federated.server import Server
from ..federated.simulate import play
from ..federated.terms import Terms
from ..network import Network
from ..settings import Settings
from ..state import init
from . import ours
from .baselines.fedavg import CLIENTS, SKEW
from .baselines.federation import LOCAL_EPOCHS, shares
from .evaluation_presets import PRESETS, PRUNE_END
from .jobs import Config, Job, Run, loss_of
from .progress import Tick

OF_TERMS = ("step", "momentum", "aggregation", "reach", "precision")


AVERAGES: dict[str, tuple[str, Config]] = {
    name: (label, {"preset": "mnist", "aggregation": name, "step": 1.3, "momentum": 0.4})
    for name, label in (("wga", "geometric average"), ("waa", "algebraic average"))
}
"""For comparison; not tuned: step and momentum were good for the first, with clients that are alike."""


class FederatedTdamp:
    """A site for each client; the `epochs` of a training are its rounds."""

    name, label = "tdamp_federated", "tdamp"
    skew: float | None = None

    def __init__(self, clients: int | None = None, local_epochs: int = LOCAL_EPOCHS) -> None:
        self.clients, self.local_epochs = clients, local_epochs

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """How fast the data weight grows, and how far the server steps."""
        if data == "boston":
            held: Config = {"preset": data, "aggregation": "sites", "noise": 0.1, "learn_base_var": 1, "growth": 0}
            return tuple({**held, "data_weight": 20, "memory": m, "memory_growth": g} for m, g in ((3, 1), (5, 2)))
        shape: Config = {"preset": data, "aggregation": "sites", "precision": "factored"}
        return tuple({**shape, "step": step} for step in (1.0, 1.4))

    def terms(self, job: Job, widths: tuple[int, ...], batch: int, rounds: int) -> Terms:
        """The configuration as terms."""
        network = Network(widths, job.problem.task, "relu")
        own = {name: value for name, value in job.config.items() if name in OF_TERMS}
        settings = federated_settings(job.config, job.keep, batch, rounds, self.local_epochs)
        return Terms(network, settings, rounds, self.local_epochs, job.seed, **own)  # type: ignore[arg-type]

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """One after the other."""
        runs = []
        for job in jobs:
            runs.append(self._run(job, self.terms(job, widths, batch, epochs)))
            tick(f"{self.label}, keep {job.keep:g}, seed {job.seed}")
        return runs

    def _run(self, job: Job, terms: Terms) -> Run:
        problem = job.problem
        parts = shares(problem, self.clients or CLIENTS[problem.task], job.seed, self.skew)
        clients = [
            Client(k, terms, check_data(terms.network, problem.x[rows], problem.y[rows], None))
            for k, rows in enumerate(parts)
        ]
        start = init(terms.network, terms.settings, np.random.default_rng(job.seed), problem.x, problem.y)
        server = Server(terms, start, {client.number: client.n_rows for client in clients})
        losses: list[float] = []
        sent: list[float] = []
        for record in play(server, clients):
            model = ours.Ours(fitted_of(server, []))
            losses.append(loss_of(model.point(problem.x_test), problem))
            sent.append(float(record["bytes_up"] + record["bytes_down"]))
        return Run(losses, fitted_of(server, []).n_units, {"bytes": sent})


class SkewedTdamp(FederatedTdamp):
    """The same, on clients with skewed labels."""

    name, label, skew = "tdamp_skewed", "tdamp", SKEW


def federated_settings(config: Config, keep: float, batch: int, rounds: int, local_epochs: int) -> Settings:
    """Settings of a configuration: data weight and memory grow from round to round."""
    number = {name: float(value) for name, value in config.items() if not isinstance(value, str)}
    base = replace(
        PRESETS[str(config["preset"])],
        batch_size=batch,
        max_epochs=rounds * local_epochs,
        keep=None if keep == 1 else keep,
        prune_end=number.get("prune_end", PRUNE_END),
        learn_base_var=bool(number.get("learn_base_var")),
    )
    if "noise" in number:
        base = replace(base, noise_update="fixed", noise_init=number["noise"])
    memory = _by_round(number.get("memory", 0.5), number.get("memory_growth", 1.0), rounds)
    weight = _by_round(number.get("data_weight", 1.0), number.get("growth", 2.0), rounds)
    return replace(base, data_weight=_each(weight, local_epochs), memory=_each(memory, local_epochs))


def _by_round(first: float, growth: float, rounds: int) -> list[float]:
    return [first + growth * r for r in range(rounds)]


def _each(values: Sequence[float], epochs: int) -> tuple[float, ...]:
    return tuple(float(value) for value in values for _ in range(epochs))
