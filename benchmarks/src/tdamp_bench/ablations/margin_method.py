"""tdamp, with its margins recorded after the first and after the last epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.jobs import Job, Run, loss_of
from ..core.progress import Tick
from ..methods import tdamp
from . import margin_fit
from .methods import Printed, Variant

SHOWN = 241
"""Points of each density that are kept."""
CURVES = ("margin", "mixture", "gumbel")


class Margins(Variant):
    """The preset. Lists of `extra` are not by epoch: `NUMBERS` have two entries, `CURVES` two times SHOWN."""

    name, label = "tdamp_margins", "tdamp"

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """One after the other."""
        runs = []
        for job in jobs:
            runs.append(self._run(job, widths, batch, epochs))
            tick(f"{self.label}, seed {job.seed}")
        return runs

    def _run(self, job: Job, widths: tuple[int, ...], batch: int, epochs: int) -> Run:
        problem = job.problem
        losses: list[float] = []
        extra: dict[str, list[float]] = {name: [] for name in (*margin_fit.NUMBERS, *CURVES)}

        def on_epoch(epoch: int, model: tdamp.Ours, seconds: float) -> None:
            losses.append(loss_of(model.point(problem.x_test), problem))
            if epoch not in (1, epochs):
                return
            fitted = model.fitted
            x = problem.x[:, np.asarray(fitted.inputs)]
            fitted_margins = margin_fit.fit(margin_fit.mixture(fitted.network, fitted.state, x, problem.y))
            for name, number in fitted_margins.numbers.items():
                extra[name].append(number)
            for name, curve in zip(CURVES, margin_fit.shown(fitted_margins, SHOWN), strict=True):
                extra[name] += curve.tolist()

        model = tdamp.train(problem, widths, self.settings(job, batch, epochs), job.seed, on_epoch)
        missing = epochs - len(losses)
        return Run(losses + [float("inf")] * missing, model.n_units, {} if missing else extra)


class PrintedMargins(Margins, Printed):
    """The method as printed, with all units."""

    name, label = "tdamp_printed_margins", Printed.label

    settings = Printed.settings
