"""How a training ended: a code, each with a sentence."""

from __future__ import annotations

import warnings
from enum import Enum


class Outcome(Enum):
    """Result code of `fit`. `str(outcome)` is the sentence for people."""

    OK = "Training finished."
    DIVERGED = (
        "Training stopped: an epoch gave values that are not finite, and the state before it is returned. "
        "Scale the data, or try a smaller batch_size, more damping, or a smaller trust."
    )
    NOISE_AT_FLOOR = (
        "Training finished, but the noise variance sits on its lower bound: the outputs are fitted without error. "
        "Check for a target that is a copy of an input, or use fewer epochs or a smaller data_weight."
    )
    TARGET_NOT_REACHED = (
        "Training finished, but more units remain than asked for: the paper's rule did not reach its target. "
        'Use pruning="exact".'
    )

    def __str__(self) -> str:
        return self.value


class TrainingWarning(UserWarning):
    """A training did not end as it should; the text says what to do."""

    @classmethod
    def tell(cls, outcome: Outcome) -> None:
        """Warn the caller of `fit`."""
        warnings.warn(str(outcome), cls, stacklevel=4)
