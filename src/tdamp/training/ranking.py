"""The rows by which a training ranks its groups: other ones each time, so that no rows decide alone."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine.network import Network
from ..engine.plan import Minibatch
from ..engine.ranking import group_losses
from ..engine.state import State
from .compiled import Program
from .data import Data
from .stored import Stored

ROWS = 1024
"""Rows that stand for all: their sum is known to some 5 %, groups that differ by less are alike."""

_group_losses = Program(group_losses, like=lambda network, state, rows, group_of: [0] * len(state.layers))


class Ranking:
    """`engine.ranking` on rows of a training's data, drawn by the training's seed and its number in a federation."""

    def __init__(self, data: Data | Stored, seed: int, number: int = 0) -> None:
        self.data, self.seed = data, (seed, number)
        self.total = float(data.weight.sum())
        self.usable = np.flatnonzero(data.weight > 0) if isinstance(data, Data) else None

    def __call__(
        self, network: Network, state: State, columns: np.ndarray, group_of: np.ndarray | None, step: int
    ) -> list[np.ndarray]:
        """Expected loss on all rows without each unit's group, (units,) for each layer."""
        losses = _group_losses(network, state, self.rows(columns, step), group_of)
        return [np.asarray(loss, np.float64) for loss in jax.device_get(losses)]

    def rows(self, columns: np.ndarray, step: int) -> Minibatch:
        """Rows drawn for this step, and weights that sum to those of all rows."""
        rng = np.random.default_rng((*self.seed, step, 1))  # that of the minibatches has no 1
        if self.usable is None:  # rows in files lie there in random order
            start = int(rng.integers(max(len(self.data.x) - ROWS, 0) + 1))
            some: Any = slice(start, start + ROWS)
        else:
            some = np.sort(rng.choice(self.usable, min(ROWS, len(self.usable)), replace=False))
        data: Any = self.data
        x, y, weight = (a[some] for a in data)
        weight = weight * (self.total / weight.sum(dtype=np.float64))
        return Minibatch(x[:, columns], y, weight.astype(x.dtype))
