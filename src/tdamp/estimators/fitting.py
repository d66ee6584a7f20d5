"""The fit of an estimator: what was prepared is trained, and the result set on it, whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import jax

from ..prediction import batched
from ..selection.refit import select_and_fit
from ..selection.streamed import fit_streamed
from ..sources.source import Source
from ..training.callbacks import Callbacks
from ..training.checkpoint import Checkpoint
from ..training.compilation import keep_compiled
from ..training.compiled import FOLDER
from ..training.equal_rows import learned
from ..training.events import outline
from ..training.fingerprint import fingerprint_of
from ..training.fit import TrainingJob, check_one_process, make_job
from ..training.fitted import Fitted
from ..training.outcome import Outcome, TrainingWarning, users_level
from ..training.progress import Show, watching
from ..training.stored import Streamed
from .from_source import prepare_source
from .harm import warn_of_pruning
from .parameters import group_ids_of, seed_of
from .preprocess import Prepared, prepare


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Scales, classes and names of a training that fails do not stay behind beside the posterior of another."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def preparing(estimator: Any, X: Any, y: Any, sample_weight: Any) -> AbstractContextManager[Prepared]:
    """What `fit` is to train, from a table or from a source, whose files are there until the end of the block."""
    if isinstance(X, Source):
        return prepare_source(estimator, X, y, sample_weight)
    return nullcontext(prepare(estimator, X, y, sample_weight))


def fit_prepared(estimator: Any, prepared: Prepared) -> None:
    """Train what was prepared, and set the fitted attributes."""
    if not FOLDER:  # once in a process
        keep_compiled()
    data, start = prepared.data, prepared.start
    job = _job(estimator, prepared)
    checkpoint = None if prepared.streams else _checkpoint(estimator, prepared, job)
    if checkpoint is not None:
        job = replace(job, seed=checkpoint.fingerprint["seed"])
    with _calls(estimator, job) as (show, calls):
        job, settings = replace(job, callback=calls), prepared.settings
        if isinstance(data, Streamed):
            job = replace(job, tick=None if show is None else lambda epochs: show(epochs, None, {}))
            fitted = fit_streamed(job, data, checkpoint)
        else:
            how: dict[str, Any] = {"streams": prepared.streams, "others": prepared.others, "whole": prepared.whole}
            fitted, settings = select_and_fit(job, prepared.fraction, show=show, checkpoint=checkpoint, **how)
            before = None if start is None else start.learned
            fitted = replace(fitted, learned=learned(before, data.x, data.y))
        if estimator.preset is not None:  # as printed, nothing is calibrated
            fitted = replace(fitted, calibration=None)
        if calls is not None:
            calls.on_end(fitted)
    _set_fitted(estimator, prepared, fitted)
    estimator.settings_ = settings
    if fitted.outcome is not Outcome.OK:
        TrainingWarning.warn(fitted.outcome)
    warn_of_pruning(estimator, prepared)
    if start is not None and prepared.fraction is not None and fitted.unseen is None:
        warnings.warn(
            "this fit goes on from one that may have learned from any of these rows, so none can tell when to "
            "stop or how wide to predict: it trained for all of max_epochs, and predictions are as wide as "
            "before. Use early_stopping=False and a max_epochs of your own if that is meant, or fit anew.",
            TrainingWarning,
            stacklevel=users_level(),
        )


def _job(estimator: Any, prepared: Prepared) -> TrainingJob:
    data = prepared.data.stored if isinstance(prepared.data, Streamed) else prepared.data
    seed, ids = seed_of(estimator.random_state), group_ids_of(estimator, prepared.network.widths[0])
    rest: dict[str, Any] = {"groups": ids, "start": prepared.start, "devices": estimator.devices}
    return make_job(prepared.network, data, prepared.settings, seed=seed, **rest)


def _checkpoint(estimator: Any, prepared: Prepared, job: TrainingJob) -> Checkpoint | None:
    """The checkpoint of the whole fit, whose seed it keeps where the estimator has none."""
    if estimator.checkpoint_dir is None:
        return None
    check_one_process(job)
    more = {"validation_fraction": prepared.fraction, "devices": estimator.devices}
    identity = fingerprint_of(job.network, job.data, job.settings, job.seed, job.groups, job.start, **more)
    return Checkpoint(estimator.checkpoint_dir, identity, any_seed=estimator.random_state is None)


@contextmanager
def _calls(estimator: Any, job: TrainingJob) -> Iterator[tuple[Show | None, Callbacks | None]]:
    """What `verbose` shows, and that with the estimator's callbacks; None where there is nothing to call."""
    verbose = estimator.verbose if estimator.devices is None or jax.process_index() == 0 else 0
    if verbose <= 0 and not estimator.callbacks:
        yield None, None
        return
    with watching(verbose, job.settings.max_epochs, 0 if job.start is None else len(job.start.history)) as show:
        calls = Callbacks([*([show] if show else []), *(estimator.callbacks or ())])
        calls.on_start(outline(job.network, job.settings, len(job.data.x)))
        yield show, calls


def _set_fitted(estimator: Any, prepared: Prepared, fitted: Fitted) -> None:
    estimator.fitted_ = fitted
    data, ids = prepared.data, group_ids_of(estimator, prepared.network.widths[0])
    some = data.some if isinstance(data, Streamed) else data
    lost = batched.lost_without_inputs(fitted, some.x, some.y, ids) * (data.n_rows / len(some.x))
    if prepared.streams and prepared.start is not None:  # the rows are added to those of the batches before
        lost = lost + estimator.lost_log_likelihood_
    estimator.lost_log_likelihood_ = lost
    estimator.network_ = prepared.network
    estimator.n_rows_ = data.n_rows
