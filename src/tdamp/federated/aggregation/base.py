"""The protocol of an aggregation rule: from the clients' posteriors to the server's next layers.

A rule is one object in one file, stateless in itself: what it has to remember from round to round is its `memory`,
which the server keeps and stores in checkpoints. `catalog.RULES` lists the members, and one exam examines every one of
them (`tests/exams/test_aggregation.py`). Sums are in float64 and in the order of the clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...engine.plan import Anchor
from ...engine.turbo import Layer
from ...numerics.beliefs import Moments
from ..messages import Arrays, Belief


class Round(NamedTuple):
    """What a rule aggregates: a round's uploads, with the server's layers from before it."""

    layers: Sequence[Layer]
    posteriors: Mapping[int, Sequence[Belief]]  # of the round's clients, ascending, in the centres of `layers`
    shares: Mapping[int, float]  # of the round's clients, by rows and trust; they sum to one
    rows: Mapping[int, float]  # of all clients known so far
    group_of: Any = None  # group ids of the inputs, None if each is its own
    step: float = 1.0
    forget: float = 0.0
    first: bool = False  # the first round of the federation

    def power(self, client: int) -> float:
        """How often a client's rows count in its own training."""
        return power(self.rows, client)


class Aggregate(NamedTuple):
    """New layers, in the old centres, and the rule's new memory."""

    layers: list[Layer]
    memory: Any = None
    floored: int = 0  # precisions that stood at a floor


class AggregationRule:
    """Base class of all rules. A member has a `name` and `aggregate`; the defaults suit rules without a memory."""

    name: ClassVar[str]
    """What `Terms.aggregation` calls the rule."""
    is_natural_average: ClassVar[bool] = False
    """Whether the result follows from sums of the clients' natural parameters, so that secure sums can compute it."""
    divides_base_prior: ClassVar[bool] = False
    """Whether posteriors must hold the base prior, which pasp="paper" takes out of them."""
    server_step: ClassVar[bool] = True
    """Whether `step` and `momentum` of the server apply to the result; a rule without damps its own steps."""
    same_broadcast: ClassVar[bool] = True
    """Whether all clients are sent the same, so that they can be trained as one program."""

    def aggregate(self, round: Round, memory: Any) -> Aggregate:
        """The server's next layers."""
        raise NotImplementedError

    def initial(self, layers: Sequence[Layer]) -> Any:
        """The memory before the first round."""
        return None

    def anchors(self, layers: Sequence[Layer], memory: Any, client: int, power: float) -> tuple[Anchor, ...] | None:
        """What a client falls back to in the next round, None for the base prior."""
        return None

    def take(self, memory: Any, rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]) -> Any:
        """The memory of the units that remain: these rows and columns of every layer's weights."""
        return memory

    def to_arrays(self, memory: Any) -> Arrays:
        """The memory as named arrays, for a checkpoint."""
        return {}

    def from_arrays(self, arrays: Arrays, n_layers: int) -> Any:
        """The memory that `to_arrays` gave."""
        return None


def power(rows: Mapping[int, float], client: int) -> float:
    """How often a client's rows count in its own training; a new client stands for the whole federation."""
    total = sum(rows[k] for k in sorted(rows))
    return total / rows.get(client, total)


def on_host(mean: Any, var: Any, dtype: Any = np.float64) -> Moments:
    """Moments as NumPy arrays."""
    moments: Any = Moments(np.asarray(mean, dtype), np.asarray(var, dtype))  # type: ignore[arg-type]
    return moments


def shares_of(rows: Sequence[float]) -> list[float]:
    """Each client's share of all rows."""
    total = sum(rows)
    return [float(count / total) for count in rows]


def weighted_sum(terms: Sequence[Any], shares: Sequence[float]) -> np.ndarray:
    """sum_k share_k term_k, in float64 and in the order given."""
    return reduce(np.add, [share * np.asarray(term, np.float64) for term, share in zip(terms, shares, strict=True)])
