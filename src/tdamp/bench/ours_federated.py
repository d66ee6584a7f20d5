"""tdamp as a federation in the paper's evaluation: K = 4 clients for Boston, 10 for MNIST, 10 local epochs."""

from __future__ import annotations

import math
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
from .presets import HOLD
from .progress import Tick

OF_TERMS = ("step", "momentum", "aggregation", "forget", "precision")

AVERAGED: Config = {
    "preset": "mnist", "precision": "factored", "aggregation": "wga", "step": 1.3, "momentum": 0.4,
    "data_weight": 4, "growth": 8, "memory_growth": 2, "top": 4, "late": 1, "learn_base_var": 1,
}  # fmt: skip
"""The data count more from round to round, and are remembered for longer: in the first rounds, and in the last."""
PRUNED: Config = {**AVERAGED, "prune_start": 0.05, "prune_end": 0.4, "restart": 1}
"""Units go early, and the growth begins anew when the last one has gone. (At keep 0.3, units that went from the first
round on without that sent 15 % less: held-out error 2.35 %, here 2.37, three seeds; test error 2.37, here 2.10.)"""
HELD: Config = {
    "preset": "boston", "precision": "factored", "aggregation": "wga", "noise": 0.1, "learn_base_var": 1,
    "data_weight": 20, "growth": 0, "memory": 5, "memory_growth": 2, "step": 1.4,
}  # fmt: skip
"""Boston's noise is held, as in centralised training."""
OTHERS: dict[str, tuple[str, Config]] = {
    "sites": ("sites", {**AVERAGED, "aggregation": "sites", "step": 1, "momentum": 0, "forget": 0.1}),
    "waa": ("algebraic average", {**AVERAGED, "aggregation": "waa"}),
}
"""For comparison where labels are skewed. Sites had diverged on the test rows from round 14 on (their anchors were sent
without their slopes); what was changed since then was chosen on rows held out."""


class FederatedTdamp:
    """The clients' posteriors averaged; the `epochs` of a training are its rounds."""

    name, label = "tdamp_federated", "tdamp"
    skew: float | None = None

    def __init__(self, clients: int | None = None, local_epochs: int = LOCAL_EPOCHS) -> None:
        self.clients, self.local_epochs = clients, local_epochs

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """One configuration, found on the validation rows in some forty trials by hand; baselines choose from six."""
        if data == "boston":
            return (HELD,)
        return (AVERAGED,) if keep == 1 else (PRUNED,)

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
    """The same configuration, on clients with skewed labels."""

    name, label, skew = "tdamp_skewed", "tdamp", SKEW


def federated_settings(config: Config, keep: float, batch: int, rounds: int, local_epochs: int) -> Settings:
    """Settings of a configuration: data weight and memory grow from round to round."""
    number = {name: float(value) for name, value in config.items() if not isinstance(value, str)}
    prune_end = number.get("prune_end", PRUNE_END)
    base = replace(
        PRESETS[str(config["preset"])],
        batch_size=batch,
        max_epochs=rounds * local_epochs,
        keep=None if keep == 1 else keep,
        prune_start=number.get("prune_start", Settings.prune_start),
        prune_end=prune_end,
        learn_base_var=bool(number.get("learn_base_var")),
    )
    if "noise" in number:
        base = replace(base, noise_update="fixed", noise_init=number["noise"])
    anew = math.ceil(prune_end * rounds) if number.get("restart") else rounds
    late = math.ceil(HOLD * rounds)
    clock = [
        min(r if r < anew else r - anew, number.get("top", rounds)) + number.get("late", 0) * max(r - late, 0)
        for r in range(rounds)
        for _ in range(local_epochs)
    ]
    return replace(
        base,
        memory=tuple(number.get("memory", 0.5) + number["memory_growth"] * r for r in clock),
        data_weight=tuple(number["data_weight"] + number["growth"] * r for r in clock),
    )
