"""The rows by which a training ranks its groups: other ones each time, so that no rows decide alone."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..engine.network import Network
from ..engine.plan import Minibatch
from ..engine.ranking import group_losses
from ..engine.settings import Settings
from ..engine.state import State, evidence
from .compiled import Program
from .data import Data
from .sparsity import Rank
from .stored import Stored

ROWS = 8192
"""Rows that stand for all where there are more. With 1024 chance decides: few rows tell what a rare unit is worth, and
a unit goes that ranks last in one of many small steps (MNIST, 91 units: 6.8 % validation errors, with 8192 5.9 %)."""

PIECE = 512
"""Images that are ranked by at a time: the patches of all of them would not fit into memory."""

_group_losses = Program(group_losses, like=lambda network, state, rows, group_of: [0] * len(state.layers))


class Ranking:
    """What a training ranks its groups by (`Settings.ranking`), rows being drawn by its seed and a client's number."""

    def __init__(self, settings: Settings, data: Data | Stored, seed: int, number: int = 0) -> None:
        self.settings, self.data, self.seed = settings, data, (seed, number)
        self.total = float(data.weight.sum())
        self.usable = np.flatnonzero(data.weight > 0) if isinstance(data, Data) else None

    def by(self, network: Network, columns: np.ndarray, group_of: np.ndarray | None, step: int) -> Rank:
        """The ranking of a network's states; by `step` other rows are drawn."""

        def rank(state: State) -> list[np.ndarray]:
            if self.settings.ranking == "evidence" and not network.shares_weights:
                return evidence(state, group_of)
            rows = self.rows(columns, step)
            piece = PIECE if network.shares_weights else len(rows.x)
            parts = [Minibatch(*(a[i : i + piece] for a in rows)) for i in range(0, len(rows.x), piece)]
            losses = [jax.device_get(_group_losses(network, state, part, group_of)) for part in parts]
            return [np.asarray(sum(each), np.float64) for each in zip(*losses, strict=True)]

        return rank

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
