"""Smaller arrays for a network that loses units: when they pay, and compiling them beside the training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine import compact
from ..engine.network import Network
from ..engine.plan import knobs_of, plan_of
from ..engine.state import State
from .batches import Feed
from .compiled import in_background
from .epoch import prepare
from .fitted import active_units
from .ranking import Ranking
from .sparsity import SEGMENTS, SparsityControl


def order_smaller(
    sparsity: SparsityControl,
    state: State,
    network: Network,
    kept: Sequence[np.ndarray],
    feed: Feed,
    epochs_done: int,
) -> compact.Smaller | None:
    """Start compiling arrays for the units that will remain when they are compiled; None if they would not pay.

    Without padding arrays have no room for more units than they were made for: they are compiled for those of now.
    """
    settings, bucket = sparsity.settings, compact.bucket_of(sparsity.settings.prior, network)
    active, rows, exact_size = active_units(state), len(feed.data.x), bucket == 1
    due = epochs_done + (0 if exact_size else compact.epochs_to_compile(network, rows))
    if not compact.pays(network, active, rows * (sparsity.first + settings.max_epochs - due)):
        return None
    groups, expected = sparsity.groups, active
    group_of = None if groups is None else groups[kept[0]]

    ranking = Ranking(settings, feed.data, 0)
    if settings.pruning == "exact" and not exact_size:
        expected = sparsity.forecast(
            state, group_of, sparsity.progress_at(due), ranking.by(network, network.columns(kept[0]), group_of, 0)
        )
    widths = None if exact_size else compact.room(network, expected, bucket)
    small, small_network, index = compact.take(state, network, expected, bucket, widths)
    small_groups = None if groups is None else groups[kept[0][index[0]]]
    plan = plan_of(small_network, settings)
    knobs = knobs_of(settings, due - sparsity.first, float(feed.data.weight.sum()))

    def compile_all() -> None:
        prepare(plan, knobs, small_groups, small, feed, SEGMENTS)
        ranking.by(small_network, small_network.columns(kept[0][index[0]]), small_groups, 0)(small)

    return compact.Smaller(small_network.widths, due, in_background(compile_all))
