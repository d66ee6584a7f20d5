"""Training: Algorithm 1 on data that are checked once, as a job that can be run, or run on other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from ..engine import prune
from ..engine.network import Network
from ..engine.settings import Settings, check_network
from ..factors.priors.catalog import PRIORS
from .checkpoint import Checkpoint, Stage
from .data import Data, check_data, check_groups
from .devices import check_alike, mesh_of
from .events import KEPT, part
from .fingerprint import fingerprint_of
from .fitted import Callback, Fitted, Monitor
from .stored import Stored
from .trainer import Trainer


@dataclass(frozen=True)
class TrainingJob:
    """One training on checked data: the network, its rows, how and from where it is trained, and who is called.

    The data may lie in files, and then `settings.chunk_rows` should be set. `groups` are ids 0, 1, ... of the inputs,
    `stage` keeps its checkpoint, `tick` is called with the epochs that are over, chunk by chunk, and `part` is what log
    records call the training.
    """

    network: Network
    data: Data | Stored
    settings: Settings
    seed: int = 0
    groups: np.ndarray | None = None
    start: Fitted | None = None
    mesh: Mesh | None = None
    stage: Stage | None = None
    callback: Callback | None = None
    monitor: Monitor | None = None
    tick: Callable[[float], None] | None = None
    part: str = KEPT

    def on(self, data: Data, **changes: Any) -> TrainingJob:
        """The same training on other checked rows, their weights in the precision of the inputs."""
        return replace(self, data=data._replace(weight=data.weight.astype(data.x.dtype, copy=False)), **changes)


def fit(
    network: Network,
    x: np.ndarray,
    y: np.ndarray,
    settings: Settings | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    monitor: Monitor | None = None,
    start: Fitted | None = None,
    devices: Any = None,
    checkpoint: str | Path | Stage | None = None,
) -> Fitted:
    """Train a network by Algorithm 1.

    groups : a group id for each input: inputs of one group stay or go together.
    seed : of the start and the order of the rows; 0.
    callback : `callback(epoch, fitted, record)` is called after every epoch and ends the training by returning True.
    monitor : `monitor(fitted)` gives the score of an epoch, such as the log score of rows held out: the best epoch's
        posterior is returned, and training ends when `settings.patience` epochs brought nothing better (while units are
        being removed no epoch counts).
    start : continue a training of the same network, its epochs counted on: its posterior is the prior. Where units are
        still to go the schedule (of data weight and memory, too) begins anew.
    devices : "all", or how many devices share every minibatch, with the same result but for rounding; None: one device.
    checkpoint : a folder where the training keeps its state: the same call continues from there, to the same bits, and
        gives the result at once when it had ended. Callback and monitor are not called again for epochs that are done.
        CheckpointError says why a folder cannot be used.

    Bad data raise ValueError; a training that goes wrong says so in `outcome` and still returns a finite posterior.
    """
    settings = settings or Settings()
    check_network(network)
    if seed < 0:
        raise ValueError(f"seed={seed}: expected a whole number of at least 0")
    data = check_data(network, x, y, sample_weight)
    job = make_job(network, data, settings, seed=seed, groups=groups, start=start, devices=devices)
    if checkpoint is not None:
        check_one_process(job)
    if checkpoint is not None and not isinstance(checkpoint, Stage):
        fingerprint = fingerprint_of(network, data, settings, seed, job.groups, job.start, devices=devices)
        checkpoint = Checkpoint(checkpoint, fingerprint).stage("training")
    return train(replace(job, stage=checkpoint, callback=callback, monitor=monitor))


def make_job(
    network: Network,
    data: Data | Stored,
    settings: Settings,
    *,
    seed: int = 0,
    groups: np.ndarray | None = None,
    start: Fitted | None = None,
    devices: Any = None,
) -> TrainingJob:
    """A job on checked data; ValueError for groups, a goal or devices that cannot be.

    This is the one place where a mesh of devices is made: jobs on parts of the data share it.
    """
    ids = None
    if groups is not None:
        ids = check_groups(groups, network.widths[0])
        if ids is not None and not PRIORS[settings.prior].takes_groups:
            raise ValueError(f'prior="{settings.prior}" runs over single units: leave out groups, or use prior="group"')
    if settings.prunes:
        prune.check_goal(settings, network, ids)
    mesh = mesh_of(devices, settings.batch_size)
    progress = start and (start.state, len(start.history))
    check_alike(mesh, "Data or settings", network, settings, seed, ids, progress, *data)
    return TrainingJob(network, data, settings, seed, ids, start, mesh)


def check_one_process(job: TrainingJob) -> None:
    """Raise ValueError if several processes share the training: they keep no checkpoint."""
    if job.mesh is not None and jax.process_count() > 1:
        raise ValueError("checkpoint: a training of several processes keeps none; train on the devices of one process")


def train(job: TrainingJob) -> Fitted:
    """Run a job: the one way from a fit to Algorithm 1."""
    with part(job.part):
        trainer = Trainer(job.network, job.data, job.settings, job.groups, job.seed, job.start, job.mesh)
        return trainer.train(job.callback, job.monitor, job.tick, job.stage)
