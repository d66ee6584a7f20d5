"""`partial_fit`: the posterior is the prior of the next batch of rows, each of which is counted once."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..factors.priors.gaussian import GaussianPrior
from ..training.outcome import TrainingWarning, users_level
from .parameters import settings_of
from .preprocess import Prepared, prepare_rows


def prepare_batch(estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Prepared:
    """What `partial_fit` is to train: one epoch of Bayes' rule on rows that are new to the estimator."""
    start = getattr(estimator, "fitted_", None)
    network, data = prepare_rows(estimator, X, y, sample_weight, start is None, classes)
    data = estimator._weigh_classes(data)
    chosen, _ = settings_of(estimator, network, len(data.x), streams=True)
    in_question = start is not None and bool(np.isfinite(start.state.layers[0].offset).any())
    settings = replace(
        chosen,
        max_epochs=1,
        pasp="paper",
        pasp_power=1.0,
        keep=None,
        prior=chosen.prior if in_question else GaussianPrior.name,
        noise_every="minibatch",
    )
    return Prepared(network, data, settings, start=start, streams=True)


def warn_of_known_rows(estimator: Any, prepared: Prepared) -> None:
    """Warn if a batch had no row that is new to the estimator, and nothing else says how wide to predict.

    `prepared` is that batch, and the estimator has learned from it.
    """
    known, data = prepared.start and prepared.start.learned, prepared.data
    by = estimator.fitted_.calibration
    if known is None or by is None or by.stretches or known.of_new(data.x, data.y).any():  # type: ignore[union-attr]
        return
    warnings.warn(
        "partial_fit has been given rows that it had learned from before, and none that could tell how "
        "wide to predict: intervals grow narrower with every call. "
        "Use fit to learn from the same rows for many epochs; give partial_fit each row once.",
        TrainingWarning,
        stacklevel=users_level(),
    )
