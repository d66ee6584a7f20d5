"""The ServerApp: handshakes with its clients, terms for all, the rounds, and in the end a fitted estimator."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier

from ..._optional import need
from ...estimators.parameters import group_ids_of, likelihood_of
from ...training.compilation import keep_compiled
from ...training.data import check_groups
from .. import checkpoint
from ..fit import FederatedFit, scaling_of_estimator
from ..preparation import negotiate, set_fitted
from ..privacy.central import Privacy
from ..rounds import Record, round_policy
from ..server import Server
from .membership import LOG, Membership, Rules
from .strategy import FedPosterior


def server_app(estimator: Any, finished: Callable[[FederatedFit], Any], **how: Any) -> Any:
    """A ServerApp that trains a copy of `estimator` and gives it to `finished`; `how` is for `federate`."""
    app = need("flwr.serverapp", "federated").ServerApp()

    @app.main()
    def main(grid: Any, context: Any) -> None:
        finished(federate(grid, estimator, **how))

    return app


def federate(
    grid: Any,
    estimator: Any,
    *,
    rules: Rules | None = None,
    classes: list[Any] | None = None,
    folder: str | Path | None = None,
    privacy: Privacy | None = None,
    **options: Any,
) -> FederatedFit:
    """Train a copy of an estimator on the rows of the clients behind a Flower grid.

    Parameters
    ----------
    grid : Flower's, of a ServerApp.
    estimator : a TDAMPRegressor or TDAMPClassifier.
    rules : how many clients, how long to wait.
    classes : of a classification, if they are known; else those that the first clients have.
    folder : for a checkpoint after every round. If there is one of the same federation, the training goes on from it;
        remove it (`forget`) when the model is safe.
    privacy : noise on the sum of the clients' clipped moves, added by this server, which sees their uploads.
    options : preset, rounds, local_epochs, aggregation, noise, precision, robust, step, momentum; as for
        `federated_fit`.

    Returns
    -------
    FederatedFit(estimator, history), as of `federated_fit`.
    """
    if getattr(estimator, "class_weight", None) is not None:
        raise ValueError("class_weight needs all labels in one place: give the clients' rows a sample_weight instead")
    keep_compiled()
    rules, estimator = rules or Rules(), clone(estimator)
    options = options if privacy is None else {**options, "hold_out": 0.0}  # scores would be sent without noise
    membership = Membership(likelihood_of(estimator).task, rules)
    request = checkpoint.request_of(estimator, classes, {**options, "privacy": privacy and asdict(privacy)})
    stored = None if folder is None else checkpoint.load(folder, request, estimator)
    if stored is None:
        server, history = _begin(grid, estimator, membership, classes, options), list[Record]()
    else:
        server, history = stored
        LOG.info("Going on after round %d, from the checkpoint %s.", server.rounds_done, folder)

    def after_round(history: list[Record]) -> None:
        if folder is not None:
            checkpoint.save(folder, request, estimator, server, history)

    known = estimator.classes_.tolist() if is_classifier(estimator) else None
    policy, scaling = round_policy(privacy, rules.participation), scaling_of_estimator(estimator)
    strategy = FedPosterior(server, membership, scaling, known, history, after_round, policy)
    strategy.run(grid)
    server.restore_best()
    set_fitted(estimator, server, history, strategy.final_reports(grid) if privacy is None else None)
    return FederatedFit(estimator, pd.DataFrame(history))


def forget(folder: str | Path) -> None:
    """Remove a checkpoint whose federation has come to its end."""
    shutil.rmtree(folder, ignore_errors=True)


def _begin(
    grid: Any, estimator: Any, membership: Membership, classes: list[Any] | None, options: dict[str, Any]
) -> Server:
    """Terms and a start for the clients that are there; the estimator takes their scales and names."""
    nodes = membership.wait_for_clients(grid, membership.rules.min_clients)
    handshakes = {number: membership.handshakes[node] for number, node in nodes.items()}
    first = next(iter(handshakes.values()))
    estimator.n_features_in_ = first.summary.x_mean.size
    if first.names:
        estimator.feature_names_in_ = np.asarray(first.names, object)
    if not is_classifier(estimator):
        estimator.single_output_ = first.single
    elif classes is None:
        classes = sorted({label for handshake in handshakes.values() for label in handshake.labels or ()})
    terms, start = negotiate(
        estimator, {number: handshake.summary for number, handshake in handshakes.items()}, classes, **options
    )
    width = terms.network.widths[0]
    ids = check_groups(group_ids_of(estimator, width), width)
    return Server(terms, start, {number: handshake.n_rows for number, handshake in handshakes.items()}, ids)
