"""What pruning costs, judged by the snapshots of a training: before its first unit goes, on the way, and at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..engine.prune import progress
from ..engine.settings import Settings
from ..training.fitted import Fitted
from ..training.pruning_loss import MeanLoss, PruningLoss
from .held_out import HeldOut, Scored


def judged_by(held: HeldOut, fitted: Fitted, settings: Settings) -> Fitted:
    """A network with its calibration, and the loss of its pruning, by rows held out of all its epochs."""
    epochs = [record["epoch"] for record in fitted.history[len(fitted.history) - len(held.snapshots) :]]
    exact = settings.prunes and settings.pruning == "exact"
    judged = exact and fitted.epoch in epochs and progress(settings, fitted.epoch) == 1  # not one that broke off
    loss = pruning_loss(held, epochs, settings, epochs.index(fitted.epoch)) if judged else None
    return replace(fitted, calibration=held.calibration(fitted), pruning=loss)


def pruning_loss(held: HeldOut, epochs: Sequence[int], settings: Settings, chosen: int) -> PruningLoss | None:
    """The loss of the `chosen` snapshot against the best of those with all units; None if there is none of them.

    `epochs` are those of the snapshots, all of a training with these settings.
    """
    share = [progress(settings, epoch) for epoch in epochs]
    whole = [index for index, done in enumerate(share) if done == 0]
    if not whole:
        return None
    before = held.latest_good(whole)
    return loss_between(held, held.snapshots[before], held.snapshots[chosen], _harmless(held, share))


def loss_between(held: HeldOut, before: Scored, after: Scored, harmless: float = 0.0) -> PruningLoss:
    """The loss of one snapshot of the rows against another one."""
    log_score = held.mean_of(before.log_scores - after.log_scores)
    accuracy = held.mean_of(after.errors - before.errors)
    return PruningLoss(
        *_before_and_after(held.mean_of(before.log_scores).mean, log_score),
        *_before_and_after(1 - held.mean_of(before.errors).mean, accuracy),
        harmless=harmless,
    )


def _before_and_after(before: float, lost: MeanLoss) -> tuple[float, float, float]:
    return before, before - lost.mean, lost.std_error


def _harmless(held: HeldOut, share: Sequence[float]) -> float:
    """The furthest share of the way whose snapshot is within a standard error of the best on the way.

    While units go the data count little and as much all the time: these snapshots are like each other.
    """
    going = [index for index, done in enumerate(share) if 0 < done < 1]
    return share[held.latest_good([*going, share.index(1.0)])]
