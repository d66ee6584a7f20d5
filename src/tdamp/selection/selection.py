"""How long to train, and how small a network may be, by the snapshots of a training that rows held out have judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ..engine.prune import progress
from ..engine.settings import Settings
from ..training.calibration import Calibration
from ..training.fitted import Fitted
from ..training.pruning_loss import PruningLoss
from .held_out import HeldOut
from .pruning import furthest, loss_between, pruning_loss


@dataclass(frozen=True)
class Selection:
    """Scores of the epochs of a training by rows that it did not learn from."""

    held: HeldOut
    scores: dict[int, float]  # mean log score by epoch, one for each snapshot
    settings: Settings  # of that training

    @cached_property
    def chosen(self) -> int:
        """Index of the snapshot that a training is to end with: one that has lost all units it is to lose."""
        return self.held.latest_good(self.candidates)

    @property
    def candidates(self) -> list[int]:
        """Indices of the snapshots of networks that have lost all units they are to lose."""
        prunes = self.settings.prunes
        return [i for i, epoch in enumerate(self.scores) if not prunes or progress(self.settings, epoch) == 1]

    def score(self) -> float:
        """Mean log score of the chosen snapshot."""
        return list(self.scores.values())[self.chosen]

    def loss_to(self, other: Selection) -> PruningLoss:
        """What is lost against the chosen snapshot of another selection, by the same rows."""
        return loss_between(self.held, other.held.snapshots[other.chosen], self.held.snapshots[self.chosen])

    def settings_to_train(self) -> Settings:
        """Settings of the training, ended with the chosen epoch."""
        return ended_after(self.settings, list(self.scores)[self.chosen])

    def calibration(self, fitted: Fitted) -> Calibration | None:
        """Calibration of a network trained for so long on all rows."""
        return self.held.calibration_at(self.chosen, fitted)

    def furthest(self) -> float:
        """The share of the way that seems to cost nothing: see `pruning.furthest`."""
        return furthest(self.held, list(self.scores), self.settings)

    def pruning_loss(self) -> PruningLoss | None:
        """What the units cost that the training lost."""
        if not self.settings.prunes:
            return None
        return pruning_loss(self.held, list(self.scores), self.settings, self.chosen)


Select = Callable[..., Selection | None]


def selection_of(held: HeldOut, scores: dict[int, float], settings: Settings) -> Selection | None:
    """None if the training went wrong before there was an epoch that could be chosen."""
    selection = Selection(held, scores, settings)
    return selection if selection.candidates else None


def ended_after(settings: Settings, epochs: int) -> Settings:
    """The same schedule, which ends after so many epochs."""
    if not settings.prunes:
        return replace(settings, max_epochs=epochs)
    share = settings.max_epochs / epochs
    start, end = min(settings.prune_start * share, 1.0), min(settings.prune_end * share, 1.0)
    return replace(settings, max_epochs=epochs, prune_start=start, prune_end=end)
