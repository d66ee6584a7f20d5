"""What pruning costs, judged by the snapshots of a training: before its first unit goes, on the way, and at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..engine.prune import progress
from ..engine.settings import Settings
from ..training.fitted import Fitted
from ..training.pruning_loss import MeanLoss, PruningLoss
from .held_out import HeldOut, Scored


def judged_by(held: HeldOut, fitted: Fitted, settings: Settings, start: Fitted | None = None) -> Fitted:
    """A network with its calibration, and the loss of its pruning, by rows held out of all its epochs.

    Where it continues from `start` and no further unit went, the loss is that of `start`.
    """
    calibration = held.calibration(fitted)
    if start is not None and not loses_units(fitted, start):
        return replace(fitted, calibration=calibration, pruning=start.pruning)
    first = 0 if start is None else len(start.history)
    epochs = [record["epoch"] - first for record in fitted.history[len(fitted.history) - len(held.snapshots) :]]
    epoch, exact = fitted.epoch - first, settings.prunes and settings.pruning == "exact"
    judged = exact and epoch in epochs and progress(settings, epoch) == 1  # not one that broke off
    loss = pruning_loss(held, epochs, settings, epochs.index(epoch)) if judged else None
    return replace(fitted, calibration=calibration, pruning=loss)


def loses_units(fitted: Fitted, start: Fitted) -> bool:
    """Whether a network has fewer units than the one it continues from."""
    return fitted.n_units < start.n_units


def pruning_loss(held: HeldOut, epochs: Sequence[int], settings: Settings, chosen: int) -> PruningLoss | None:
    """The loss of the `chosen` snapshot against the best of those with all units; None if there is none of them.

    `epochs` are those of the snapshots, all of a training with these settings.
    """
    share = [progress(settings, epoch) for epoch in epochs]
    whole = [index for index, done in enumerate(share) if done == 0]
    if not whole:
        return None
    before = held.latest_good(whole)
    loss = loss_between(held, held.snapshots[before], held.snapshots[chosen])
    return loss._replace(harmless=_harmless(held, share, before))


def loss_between(held: HeldOut, before: Scored, after: Scored) -> PruningLoss:
    """The loss of one snapshot of the rows against another one."""
    log_score = held.mean_of(before.log_scores - after.log_scores)
    accuracy = held.mean_of(after.errors - before.errors)
    return PruningLoss(
        *_before_and_after(held.mean_of(before.log_scores).mean, log_score),
        *_before_and_after(1 - held.mean_of(before.errors).mean, accuracy),
    )


def _before_and_after(before: float, lost: MeanLoss) -> tuple[float, float, float]:
    return before, before - lost.mean, lost.std_error


def _harmless(held: HeldOut, share: Sequence[float], before: int) -> float:
    """The share of the way up to which no snapshot lost more than a negligible part of the one `before`."""
    reached = 0.0
    for index in _going(share):
        if not loss_between(held, held.snapshots[before], held.snapshots[index]).negligible:
            break
        reached = share[index]
    return reached


def furthest(held: HeldOut, epochs: Sequence[int], settings: Settings) -> float:
    """The furthest share of the way whose snapshot is within a standard error of the best on the way: where a search
    for a size begins, as those that remain are still to learn anew.

    While units go the data count little and as much all the time: these snapshots are like each other.
    """
    share = [progress(settings, epoch) for epoch in epochs]
    return share[held.latest_good(_going(share))]


def _going(share: Sequence[float]) -> list[int]:
    """Indices of the snapshots while units go, that after the last one included."""
    return [*(index for index, done in enumerate(share) if 0 < done < 1), share.index(1.0)]
