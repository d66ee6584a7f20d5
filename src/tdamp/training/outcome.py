"""How a training ended: a code, each with a sentence."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from enum import Enum
from pathlib import Path

INSIDE = f"{Path(__file__).parents[1]}{os.sep}", contextlib.__file__
"""How the names of the files of this package begin, and that of the context managers it uses."""


class Outcome(Enum):
    """Result code of `fit`. `str(outcome)` is the sentence for people."""

    OK = "Training finished."
    DIVERGED = (
        "Training stopped: an epoch gave values that are not finite. The posterior before that epoch is returned, "
        "which has learned from fewer passes than asked for. "
        "Scale the data and look for extreme values, or try a smaller batch_size; tdamp.Settings also has damping "
        "(more is safer) and trust (less is safer)."
    )
    NOISE_AT_FLOOR = (
        "Training finished, but the noise variance sits on its lower bound: the outputs are fitted without error, "
        "so that the noise tells nothing of new rows. "
        "Check for a target that is a copy of an input, or use a smaller max_epochs or data_weight."
    )
    TARGET_NOT_REACHED = (
        "Training finished, but more units remain than asked for: the paper's rule did not reach its target. "
        'Use pruning="exact", which does.'
    )

    def __str__(self) -> str:
        return self.value


class TrainingWarning(UserWarning):
    """A training did not end as it should; the text says what to do."""

    @classmethod
    def warn(cls, outcome: Outcome) -> None:
        """Warn of an outcome, at the line that called into this package."""
        warnings.warn(str(outcome), cls, stacklevel=users_level())

    @classmethod
    def tell(cls, outcome: Outcome) -> None:
        """Deprecated: `warn`."""
        warnings.warn(
            "TrainingWarning.tell goes in 0.4. Use TrainingWarning.warn.", DeprecationWarning, stacklevel=users_level()
        )
        cls.warn(outcome)


def users_level() -> int:
    """The `stacklevel` with which the calling function warns at the line that called into this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    return level
