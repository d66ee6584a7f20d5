"""How good a federation's predictions are, before units go and in the end: accuracy or R2, with standard errors.

A client sends sums over the rows that it holds out, which the server adds up: of errors, of targets and their squares,
and the squared standard errors of its own sums, copies of a row being one observation. The rows of two rounds may be
those of other clients, so that standard errors of a difference take them for independent, and are rather too wide: a
warning that comes by them is not by chance. Oracle: the same of all rows in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..engine.network import Network
from ..prediction import batched
from ..training.calibration import best_log_scores
from ..training.data import Data
from ..training.equal_rows import kinds_of
from ..training.fitted import Fitted
from ..training.pruning_loss import MeanLoss, PruningLoss
from . import calibration
from .terms import Terms

SUMS = 4
"""Numbers for each target: its errors, how sure their sum is, the targets, and their squares."""


class Judged(NamedTuple):
    """Sums over rows held out, of one posterior: log scores (`calibration`) and, to judge a pruning, errors."""

    scores: np.ndarray
    errors: np.ndarray | None

    @classmethod
    def total(cls, parts: Sequence[Judged]) -> Judged:
        """The sums over the rows of all."""
        scores, errors = zip(*parts, strict=True)
        return cls(reduce(np.add, scores), None if errors[0] is None else reduce(np.add, errors))


def no_errors(terms: Terms) -> np.ndarray | None:
    """`held_out_errors` without rows; None where no pruning is to be judged."""
    if not terms.hold_out or not terms.prunes_exactly:
        return None
    return np.zeros(1 + SUMS * (1 if terms.network.output.has_classes else terms.network.n_targets))


def held_out_errors(fitted: Fitted, held: Data) -> np.ndarray:
    """For each target (of classes: for all) the sums of `SUMS`, and how sure the sum of the log scores is."""
    x, y, rows = held.x, held.y, held.weight.astype(np.float64)
    kinds = kinds_of(x, y)

    def sure(values: np.ndarray) -> float:
        return (MeanLoss.of(np.asarray(values, np.float64), kinds, rows).std_error * rows.sum()) ** 2

    if fitted.network.output.has_classes:
        log_probs = batched.log_probs(fitted, x)
        columns = [((log_probs.argmax(1) != y).astype(np.float64), np.zeros(len(x)))]
        log_scores = log_probs[np.arange(len(x)), y]
    else:
        predicted, targets = batched.predicted(fitted, x), y.astype(np.float64)
        columns = list(zip(np.square(targets - predicted.mean).T, targets.T, strict=True))
        calibrated = fitted.network.output.is_calibrated
        log_scores = best_log_scores(y, predicted, rows) if calibrated else batched.log_scores(fitted, x, y)
    sums = [[rows @ errors, sure(errors), rows @ target, rows @ np.square(target)] for errors, target in columns]
    return np.append(np.asarray(sums, np.float64), sure(log_scores))


def are_errors(errors: np.ndarray) -> bool:
    """Whether these can be such numbers: but for that of the targets no sum is negative."""
    wrong, sure, _, squares = _by_target(errors)
    return all(bool((sums >= 0).all()) for sums in (wrong, sure, squares, errors[-1]))


def _by_target(errors: np.ndarray) -> np.ndarray:
    """(SUMS, targets)."""
    return errors[:-1].reshape(-1, SUMS).T


def pruning_loss(network: Network, before: Judged | None, after: Judged) -> PruningLoss | None:
    """What was lost from one posterior to another one; None if no rows judged either."""
    parts = []
    for scores, sums in (before or Judged(np.zeros(1), None), after):
        rows = float(scores[-1])
        if sums is None or not rows > 0:
            return None
        score, (errors, sure, target, squares) = calibration.log_score(network, scores), _by_target(sums) / rows
        spread = np.ones(1) if network.output.has_classes else squares - np.square(target)
        spread = np.maximum(spread, np.finfo(np.float64).tiny)
        accuracy = 1 - float(np.mean(errors / spread))
        error = float(np.mean(np.sqrt(sure / rows) / spread))
        parts.append((0.0 if score is None else score, np.sqrt(sums[-1]) / rows, accuracy, error))
    (score, score_error, accuracy, error), (score_after, score_error_after, accuracy_after, error_after) = parts
    log_score = score, score_after, float(np.hypot(score_error, score_error_after))
    return PruningLoss(*log_score, accuracy, accuracy_after, float(np.hypot(error, error_after)))
