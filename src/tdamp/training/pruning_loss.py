"""What pruning costs, by rows that were not trained on: the network before its first unit goes, and after the last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SURE, LITTLE, LITTLE_NATS = 2.0, 0.01, 0.05
"""Standard errors beyond which a loss is no chance; R2 or accuracy, and log score, that are not worth a word."""
LIKELY, MUCH = 1.0, 0.02
"""Standard errors that are enough where so much R2 or accuracy is lost."""


class MeanLoss(NamedTuple):
    """A mean over rows, and its standard error; rows of one kind are one observation."""

    mean: float
    std_error: float

    @classmethod
    def of(cls, values: np.ndarray, kinds: np.ndarray, weight: np.ndarray | None = None) -> MeanLoss:
        """The mean of numbers, one for each row, by the kinds of the rows (`equal_rows.kinds_of`)."""
        share = np.full(len(values), 1 / len(values)) if weight is None else weight / weight.sum()
        mean, kind = float(share @ values), np.unique(kinds, return_inverse=True)[1]
        return cls(mean, float(np.sqrt(np.square(np.bincount(kind, share * (values - mean))).sum())))

    def within(self, errors: float) -> bool:
        """Whether the mean is at most so many standard errors above zero."""
        return self.mean <= errors * self.std_error


class PruningLoss(NamedTuple):
    """Mean log score of rows, and their accuracy or R2, before and after pruning.

    The standard errors are those of the differences, whose rows are paired. `harmless` is the share of the way from all
    units to the goal up to which the loss was negligible, epoch by epoch while units went; 0 where the first step lost.
    It is no promise: a training that ends there is another one.
    """

    log_score_before: float
    log_score_after: float
    log_score_std_error: float
    accuracy_before: float
    accuracy_after: float
    accuracy_std_error: float
    harmless: float = 0.0

    @property
    def log_score(self) -> MeanLoss:
        """Log score lost by pruning, nats a row."""
        return MeanLoss(self.log_score_before - self.log_score_after, self.log_score_std_error)

    @property
    def accuracy(self) -> MeanLoss:
        """Lost accuracy, or R2."""
        return MeanLoss(self.accuracy_before - self.accuracy_after, self.accuracy_std_error)

    @property
    def negligible(self) -> bool:
        """Whether the log score is within a standard error, and what is lost is not worth a warning."""
        return self.log_score.within(1) and not self.hurts

    @property
    def hurts(self) -> bool:
        """Whether more was lost than chance explains, and more than a little."""
        accuracy, log_score = self.accuracy, self.log_score
        likely = accuracy.mean > MUCH and not accuracy.within(LIKELY)
        sure = accuracy.mean > LITTLE and not accuracy.within(SURE)
        return likely or sure or (log_score.mean > LITTLE_NATS and not log_score.within(SURE))
