"""A fit from a source: its rows go to files of their own, scaled and in random order, and training reads them there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ..engine.settings import check_network
from ..numerics.scaling import channel_scales, identity_scales, scaled
from ..selection.refit import REFIT_ROWS, check_search
from ..selection.streamed import CHUNK_NUMBERS
from ..sources.source import Source
from ..sources.spill import MOST_HELD, Known, read, spilling, store
from ..training.progress import reading
from . import validation
from .images import as_table, n_channels
from .parameters import is_auto, likelihood_of, network_of, of_whole, seed_of, settings_of, with_goal
from .preprocess import Prepared, check_continues, continued

SOURCES = 2**31
"""Keeps the order of a source's rows apart from a training's own random numbers, whose seeds are smaller."""


@contextmanager
def prepare_source(estimator: Any, source: Source, y: Any, sample_weight: Any) -> Iterator[Prepared]:
    """What `fit(source)` is to train; its files are gone at the end of the block."""
    if y is not None or sample_weight is not None:
        raise ValueError("y and sample_weight come from the source: call fit(source) without them")
    start = continued(estimator)
    _check_parameters(estimator, source.n_rows or 1, start is not None)
    rng = np.random.default_rng((SOURCES, seed_of(estimator.random_state)))
    with spilling(source.spill_dir) as folder:
        with reading(estimator.verbose, "reading", source.n_rows) as tick:
            known = read(source, likelihood_of(estimator).has_classes, folder, rng, tick)
        _learn(estimator, known, first=start is None)
        network = network_of(estimator)
        check_continues(estimator, network, first=start is None)
        settings, holds_out = settings_of(estimator, network, known.n_rows)
        whole = of_whole(estimator, [settings])
        settings, *others = with_goal(estimator, network, settings)
        fraction = estimator.validation_fraction if holds_out else None
        n_rows, n_inputs = known.n_rows, known.shape.n_inputs
        few = n_rows <= REFIT_ROWS and n_rows * n_inputs <= CHUNK_NUMBERS
        if whole:
            check_search(settings, n_rows, few and holds_out, start is not None)
        with reading(estimator.verbose, "shuffling", n_rows) as tick:
            held = 0 if few or start is not None or fraction is None else min(ceil(fraction * n_rows), MOST_HELD)
            to_x, to_y = (
                lambda x: scaled("X", x, estimator.x_mean_, estimator.x_scale_),
                estimator._source_targets(known),
            )
            data = store(known, to_x, to_y, folder, held, rng, tick)
        yield Prepared(network, data.in_memory() if few else data, settings, fraction, start, others, whole=whole)


def _check_parameters(estimator: Any, n_rows: int, continues: bool) -> None:
    """Raise ValueError for parameters that cannot be, before anything is read; there are `n_rows` at least."""
    trial = network_of(estimator, 1, 2)
    check_network(trial)
    settings, holds_out = settings_of(estimator, trial, REFIT_ROWS)
    if is_auto(estimator.keep):
        check_search(settings, n_rows, holds_out, continues)
    if estimator.checkpoint_dir is not None and estimator.random_state is None:
        raise ValueError("checkpoint_dir: give random_state a number, or a source's rows come in another order")


def _learn(estimator: Any, known: Known, first: bool) -> None:
    """Columns, and on the `first` fit scales and targets; ValueError for weights that are out of range."""
    validation.check_weights(known.largest_weight, known.x.weight, known.n_rows)
    as_table(estimator, np.empty((0, known.shape.n_inputs)), reset=first)
    validate_data(estimator, known.shape.example(), reset=first, skip_check_array=True)
    if first:
        estimator.x_mean_, estimator.x_scale_ = _x_scales(estimator, known)
        estimator._learn_source_targets(known)


def _x_scales(estimator: Any, known: Known) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scale of each column: its own, or those of its channel."""
    if not estimator.standardize:
        return identity_scales(known.shape.n_inputs)
    channels = n_channels(estimator)
    return known.x.input_scales() if channels is None else channel_scales(known.x.mean, known.x.std, channels)
