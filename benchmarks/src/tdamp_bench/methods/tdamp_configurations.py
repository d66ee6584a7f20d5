"""tdamp in the paper's evaluation, twice: as recommended, and as printed."""

from __future__ import annotations

from collections.abc import Sequence

from tdamp.engine.settings import Settings

from ..core.jobs import Config, Job, Run, loss_of
from ..core.progress import Tick
from . import evaluation_presets, tdamp


class Tdamp:
    """EM-TDAMP with anchored PasP, a running noise estimate and exact pruning."""

    name, label = "tdamp", "tdamp"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """The presets, and a few settings around them."""
        return evaluation_presets.grid(data, keep)

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """The configuration as settings."""
        return evaluation_presets.settings(job.config, job.keep, batch, epochs)

    def train(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int, tick: Tick) -> list[Run]:
        """One after the other."""
        runs = []
        for job in jobs:
            runs.append(_run(job, widths, self.settings(job, batch, epochs)))
            tick(f"{self.label}, keep {job.keep:g}, seed {job.seed}")
        return runs


class Paper(Tdamp):
    """Algorithm 1 as printed (`Settings.paper`), its open numbers tuned."""

    name, label = "tdamp_paper", "EM-TDAMP as printed"

    def grid(self, data: str, keep: float) -> tuple[Config, ...]:
        """First variances; or, with units to remove, the rule's rho_0 and rho_th."""
        return evaluation_presets.paper_grid(data, keep)

    def settings(self, job: Job, batch: int, epochs: int) -> Settings:
        """The configuration as settings."""
        return evaluation_presets.paper_settings(job.config, job.keep, batch, epochs)


def _run(job: Job, widths: tuple[int, ...], settings: Settings) -> Run:
    """One fit; an epoch that never came, as the training went wrong before, has an infinite loss."""
    losses: list[float] = []
    noise: list[float] = []

    def on_epoch(epoch: int, model: tdamp.Ours, seconds: float) -> None:
        losses.append(loss_of(model.point(job.problem.x_test), job.problem))
        noise.append(float(model.fitted.state.noise_var.mean()))

    model = tdamp.train(job.problem, widths, settings, job.seed, on_epoch)
    missing = settings.max_epochs - len(losses)
    outcome = model.fitted.outcome
    return Run(
        losses + [float("inf")] * missing,
        model.n_units,
        {"noise_var": noise + [float("inf")] * missing},
        "" if outcome.name == "OK" else str(outcome),
    )
