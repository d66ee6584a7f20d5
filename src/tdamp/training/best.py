"""The best posterior so far, by its score on rows that were not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from ..engine.network import Network
from ..engine.state import State


class Best(NamedTuple):
    """A posterior with its score; `at` is its epoch, or its round in a federation."""

    score: float
    at: int
    state: State
    network: Network
    kept: Sequence[np.ndarray]

    def better(self, other: Best | None) -> Best:
        """This one if its score is higher than that of `other`, or the other's is not finite; else the other."""
        return self if other is None or self.score > other.score or not isfinite(other.score) else other
