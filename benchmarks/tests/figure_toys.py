"""Methods whose losses are a formula, under the names of the real ones."""

from __future__ import annotations

import math

from tdamp_bench.core.jobs import Run, n_keep
from tdamp_bench.figures.methods import METHODS, Listed

START = {name: 1.0 + 0.2 * i for i, name in enumerate(METHODS)}
"""The first is the best, at every epoch."""


def rate_of(job) -> float:
    """Configurations that are not tuned have none of their own."""
    return job.config.get("rate", 0.1)


class Toy:
    """Loss START (1 + rate) keep^-0.1 / epoch + seed / 100, infinite for a rate of 9; counts what it is handed."""

    name = "tdamp"
    rates: tuple[float, ...] = (0.3, 0.1, 9.0)
    calls: list[list[tuple]] = []  # noqa: RUF012  shared by all toys: a log of every call
    stop_at: int | None = None

    @property
    def label(self) -> str:
        return f"toy {self.name}"

    def grid(self, data: str, keep: float) -> tuple[dict, ...]:
        return tuple({"rate": rate} for rate in self.rates)

    def train(self, jobs, widths, batch, epochs, tick) -> list[Run]:
        if Toy.stop_at == len(Toy.calls):
            raise KeyboardInterrupt
        Toy.calls.append(
            [(self.name, job.config.get("rate", 0.1), job.keep, job.seed, len(job.problem.x)) for job in jobs]
        )
        runs = []
        for job in jobs:
            rate = rate_of(job)
            first = START[self.name] * (1 + rate) * job.keep**-0.1
            loss = [math.inf if rate == 9.0 else first / e + job.seed / 100 for e in range(1, epochs + 1)]
            runs.append(Run(loss, n_keep(widths, job.keep), extra={"noise_var": [0.5] * epochs}))
            tick(self.name)
        return runs


for _name in METHODS:
    globals()[_name] = type(_name, (Toy,), {"name": _name})

LISTED = {name: Listed(f"figure_toys:{name}", listed.keeps_together) for name, listed in METHODS.items()}
