"""Training: Algorithm 1 on the user's data, checked, with a result code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..engine import prune
from ..engine.network import Network
from ..engine.settings import Settings, check_network
from ..factors.priors.catalog import PRIORS
from .checkpoint import Checkpoint, Stage
from .data import Data, check_data, check_groups
from .devices import check_alike, mesh_of
from .fingerprint import problem_of
from .fitted import Callback, Fitted, Monitor
from .stored import Stored
from .trainer import Trainer


def fit(
    network: Network,
    x: np.ndarray,
    y: np.ndarray,
    settings: Settings | None = None,
    *,
    seed: int = 0,
    sample_weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    callback: Callback | None = None,
    monitor: Monitor | None = None,
    start: Fitted | None = None,
    devices: Any = None,
    checkpoint: str | Path | Stage | None = None,
) -> Fitted:
    """Train a network by Algorithm 1.

    `groups` gives each input a group id: inputs of one group stay or go together. `callback(epoch, fitted, record)` is
    called after every epoch and ends the training by giving back True. `monitor(fitted)` gives the score of an epoch,
    such as the log score of rows held out: the best epoch's posterior is returned, and training ends when
    `settings.patience` epochs brought nothing better (while units are being removed no epoch counts). `start` goes on
    from a training of the same network, its epochs counted on: its posterior is the prior. `devices` ("all", or how
    many) split every minibatch among several devices, with the same result but for rounding; None: one device.
    `checkpoint` is a folder where the training keeps what it has come to: the same call goes on from there, to the same
    bits, and gives the result at once when it had ended. Callback and monitor are not called again for epochs that are
    done. CheckpointError says why a folder cannot be used.
    Bad data raise ValueError; a training that goes wrong says so in `outcome` and still returns a finite posterior.
    """
    settings = settings or Settings()
    check_network(network)
    if seed < 0:
        raise ValueError(f"seed={seed}: expected a whole number of at least 0")
    data = check_data(network, x, y, sample_weight)
    return fit_checked(
        network, data, settings, seed, groups, callback, monitor, start, devices=devices, checkpoint=checkpoint
    )


def fit_checked(
    network: Network,
    data: Data | Stored,
    settings: Settings,
    seed: int,
    groups: np.ndarray | None = None,
    callback: Callback | None = None,
    monitor: Monitor | None = None,
    start: Fitted | None = None,
    tick: Callable[[float], None] | None = None,
    devices: Any = None,
    checkpoint: str | Path | Stage | None = None,
) -> Fitted:
    """`fit` on data that have been checked; they may lie in files, and then `settings.chunk_rows` should be set.

    `tick` is told the epochs that are over, chunk by chunk.
    """
    ids = check_groups(groups, network.widths[0])
    if ids is not None and not PRIORS[settings.prior].takes_groups:
        raise ValueError(f'prior="{settings.prior}" runs over single units: leave out groups, or use prior="group"')
    prune.check_goal(settings, network, ids)
    mesh = mesh_of(devices, settings.batch_size)
    check_alike(
        mesh, "Data or settings", network, settings, seed, ids, start and (start.state, len(start.history)), *data
    )
    stage = checkpoint
    if stage is not None and mesh is not None and jax.process_count() > 1:
        raise ValueError("checkpoint: a training of several processes keeps none; train on the devices of one process")
    if stage is not None and not isinstance(stage, Stage):
        problem = problem_of(network, data, settings, seed, ids, start, devices=devices)
        stage = Checkpoint(stage, problem).stage("training")
    return Trainer(network, data, settings, ids, seed, start, mesh).train(callback, monitor, tick, stage)
