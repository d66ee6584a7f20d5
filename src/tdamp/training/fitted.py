"""What a training gives: a network's posterior, what remains of it, and how it came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.network import Network
from ..engine.settings import Prediction
from ..engine.state import State
from .calibration import Calibration
from .equal_rows import Learned
from .outcome import Outcome
from .pruning_loss import PruningLoss


@dataclass(frozen=True)
class Fitted:
    """A network during or after training.

    `kept` are the units of the network asked for that remain, a layer at a time, inputs first. During training removed
    units may still lie in the arrays, switched off; after it they are gone.
    """

    network: Network
    state: State
    kept: tuple[np.ndarray, ...]
    history: tuple[dict[str, Any], ...]
    outcome: Outcome
    epoch: int  # whose posterior this is, counted from 1
    calibration: Calibration | None = None  # of the likelihoods that have one, from rows that were not trained on
    unseen: np.ndarray | None = None  # kinds (`equal_rows.kinds_of`) of rows held out of every epoch, if there are any
    prediction: Prediction = "posterior"  # or "mean": see Settings
    learned: Learned | None = None  # the rows of all epochs so far; None: not known
    pruning: PruningLoss | None = (
        None  # by rows that were not trained on; None: nothing was pruned, or nothing judged it
    )

    @property
    def inputs(self) -> np.ndarray:
        """The data columns that `state` expects."""
        return self.network.columns(self.kept[0])

    @property
    def n_units(self) -> int:
        """Inputs and hidden units that remain."""
        return n_active(self.state)


Callback = Callable[[int, Fitted, dict[str, Any]], Any]
Monitor = Callable[[Fitted], float]


def n_active(state: State) -> int:
    """Inputs and hidden units that remain."""
    return sum(int(mask.sum()) for mask in active_units(state))


def active_units(state: State) -> list[np.ndarray]:
    """Which units of each layer are there, those not removed."""
    return [np.asarray(layer.offset) > -np.inf for layer in state.layers]
