"""`federated_fit`: an estimator trained on the rows of many clients, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.utils import compute_sample_weight

from ..estimators.parameters import group_ids_of
from ..estimators.preprocess import check_rows, scale_rows
from ..training.compilation import keep_compiled
from ..training.data import check_groups
from ..training.events import log_event
from ..training.progress import counting
from .client import Client
from .preparation import fitted_of, negotiate, set_fitted
from .privacy.central import Privacy
from .rounds import Record, collect_reports, round_policy, run_rounds
from .server import Server
from .summary import Scaling, summary_of
from .terms import Aggregation, NoiseAt, Precision


class FederatedFit(NamedTuple):
    """A fitted estimator, and a frame with a row for each round."""

    estimator: Any
    history: pd.DataFrame


def federated_fit(
    estimator: Any,
    clients: Sequence[Any],
    *,
    rounds: int = 10,
    local_epochs: int = 10,
    preset: str | None = None,
    aggregation: Aggregation = "wga",
    noise: NoiseAt | None = None,
    precision: Precision = "full",
    robust: bool = False,
    step: float | None = None,
    momentum: float | None = None,
    participation: float = 1.0,
    privacy: Privacy | None = None,
    together: bool = False,
    test: Any = None,
    callback: Callable[[Record], Any] | None = None,
) -> FederatedFit:
    """Train an estimator on clients' rows without bringing the rows together. Paper: Algorithm 2.

    Parameters
    ----------
    estimator : a TDAMPRegressor or TDAMPClassifier; it is copied. A `data_weight` of its own counts by round, `keep` is
        reached by the server, `max_epochs` is not used. With `early_stopping` clients hold out about
        `validation_fraction` of all rows, copies of a row everywhere or nowhere, and the posterior of the best round is
        kept; all rounds are played. By the same rows a regression is calibrated; without them its intervals may be too
        narrow. "auto" does so from 20 rows on, of all clients together.
    clients : (X, y) or (X, y, sample_weight) of every client.
    rounds, local_epochs : rounds of exchange, and passes of every client over its rows in each.
    preset : "paper" is Algorithm 2 as printed (`tdamp.federated.Terms.paper`), with the estimator's layers and keep: no
        early stopping, no calibration. A parameter of the estimator that is not "auto" wins, and so do the arguments
        below. None: as the estimator's own `preset` says.
    aggregation : "wga", "waa" or "sites"; see `tdamp.federated.Terms`, also for noise, precision, robust, step and
        momentum (noise, step and momentum are chosen if None).
    participation : the part of the clients that is drawn for each round.
    privacy : clip every client's move and add noise to their sum, with the epsilon so far in the history; which inputs
        are needed is not asked then, and a regression is not calibrated. See `tdamp.federated.Privacy`. Needs the
        extra `privacy`.
    together : train clients with about equal numbers of rows (which are padded to the same) as one vectorised program;
        equal but for rounding. Clients of other numbers, and those of "sites", are trained in turn all the same.
    test : (X, y) for a score after every round.
    callback : called with the record of every round; one that gives back True ends the training.

    Returns
    -------
    FederatedFit(estimator, history): the history has bytes sent up and down, units left, noise, log evidence of the
    clients' rows, log score of rows held out (of the posterior that the round began with), seconds and the score, round
    by round; that of a private federation has units, noise, epsilon and seconds.
    """
    estimator = clone(estimator)
    rows = [_rows(estimator, k, *client) for k, client in enumerate(_weighted(estimator, _pairs(clients)))]
    classification = is_classifier(estimator)
    classes = _classes([y for _, y, _ in rows]) if classification else None
    if not classification:
        estimator.single_output_ = rows[0][1].ndim == 1
    summaries = {
        k: summary_of(X, None if classification else y.reshape(len(y), -1), weight)
        for k, (X, y, weight) in enumerate(rows)
    }
    terms, start = negotiate(
        estimator, summaries, None if classes is None else list(classes), preset=preset, rounds=rounds,
        local_epochs=local_epochs, aggregation=aggregation, noise=noise, precision=precision, robust=robust, step=step,
        momentum=momentum, hold_out=None if privacy is None else 0.0,
    )  # fmt: skip
    ids = check_groups(group_ids_of(estimator, terms.network.widths[0]), terms.network.widths[0])
    policy, scaling = round_policy(privacy, participation), scaling_of_estimator(estimator)
    data = [scale_rows(*row, scaling[:2], scaling[2:], classes) for row in rows]
    parties = [Client(k, terms, rows_of, ids) for k, rows_of in enumerate(data)]
    server = Server(terms, start, {k: float(part.weight.sum(dtype=np.float64)) for k, part in enumerate(data)}, ids)
    keep_compiled()
    history: list[Record] = []
    with counting(estimator.verbose, "round", rounds) as show:
        for record in run_rounds(server, parties, policy, together=together):
            history.append(record)
            log_event("round", f"round {record['round']} of {rounds}", **record)
            if test is not None:
                estimator.fitted_ = fitted_of(server, history)
                record["score"] = float(estimator.score(*test))
            if show is not None:
                show(record["round"], record)
            if callback is not None and callback(record) is True:
                break
    server.restore_best()
    set_fitted(estimator, server, history, collect_reports(server, parties) if privacy is None else None)
    return FederatedFit(estimator, pd.DataFrame(history))


def scaling_of_estimator(estimator: Any) -> Scaling:
    """The scales that `preparation.negotiate` has given it."""
    nothing = np.zeros(0)
    y = (getattr(estimator, "y_mean_", nothing), getattr(estimator, "y_scale_", nothing))
    return Scaling(estimator.x_mean_, estimator.x_scale_, *y)


def _pairs(clients: Any) -> list[tuple[Any, Any, Any]]:
    """X, y and weights (or None) of every client."""
    if not isinstance(clients, list | tuple):
        raise ValueError(f"clients: expected a list with (X, y) of each client, got {type(clients).__name__}")
    if not clients:
        raise ValueError("clients is empty: give (X, y) of at least one client")
    for k, client in enumerate(clients):
        if not isinstance(client, list | tuple) or len(client) not in (2, 3):
            raise ValueError(f"client {k}: expected (X, y) or (X, y, sample_weight), got {type(client).__name__}")
    return [(*client, *[None] * (3 - len(client))) for client in clients]


def _weighted(estimator: Any, clients: list[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
    """The clients with weights that have the estimator's `class_weight` in them, relative to the rows of all."""
    if getattr(estimator, "class_weight", None) is None:
        return clients
    relative = compute_sample_weight(estimator.class_weight, np.concatenate([np.asarray(y) for _, y, _ in clients]))
    parts = np.split(relative / relative.mean(), np.cumsum([len(y) for _, y, _ in clients])[:-1])
    ones = [np.ones(len(part)) if w is None else np.asarray(w) for (_, _, w), part in zip(clients, parts, strict=True)]
    return [(X, y, part * one) for (X, y, _), part, one in zip(clients, parts, ones, strict=True)]


def _classes(labels: list[np.ndarray]) -> np.ndarray:
    """The sorted classes of all clients' labels."""
    kinds = {"text" if y.dtype.kind in "OUS" else "numbers" for y in labels}
    if len(kinds) > 1:
        raise ValueError("Some clients' labels are text and some are numbers: give all of them the same kind")
    return np.unique(np.concatenate([np.unique(y) for y in labels]))


def _rows(estimator: Any, number: int, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """A client's rows, checked; all clients have the columns of the first."""
    try:
        return check_rows(estimator, X, y, sample_weight, reset=number == 0)
    except ValueError as error:
        raise ValueError(f"client {number}: {error}") from error
