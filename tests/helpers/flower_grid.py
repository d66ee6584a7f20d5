"""Flower without a network: a grid that calls the ClientApp itself, and small clients for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np
import pandas as pd
from flwr.app import Context, Error, Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.estimators.preprocess import check_rows, scale_rows
from tdamp.federated.client import Client
from tdamp.federated.fit import scaling_of_estimator
from tdamp.federated.flower import client_app
from tdamp.federated.preparation import fitted_of, negotiate
from tdamp.federated.server import Server
from tdamp.federated.summary import summary_of
from tdamp.prediction.batched import lost_without_inputs

SIZES = (40, 28, 52)


class DirectGrid(Grid):
    """Nodes are numbers above 1000, client by client; messages are answered at once, in any order that is asked for.

    `broken(client, message_type, group)` says how a client fails: None, "error" or "silent".
    """

    def __init__(self, app: Any, clients: int, order: Callable[[list[Any]], list[Any]] = list) -> None:
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
        self.app, self.order = app, order
        self.nodes = {1000 + 7 * k: k for k in range(clients)}
        self.broken: Callable[[int, str, str], str | None] = lambda client, kind, group: None
        self.asked: list[tuple[int, str, str]] = []

    def get_node_ids(self) -> Iterable[int]:
        return list(self.nodes)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        return self.order([reply for message in messages if (reply := self._answer(message)) is not None])

    def _answer(self, message: Message) -> Message | None:
        meta = message.metadata
        meta.__dict__["_message_id"] = "m"
        client = self.nodes[meta.dst_node_id]
        self.asked.append((client, meta.message_type, meta.group_id))
        fault = self.broken(client, meta.message_type, meta.group_id)
        if fault == "silent":
            return None
        context = Context(1, meta.dst_node_id, {"partition-id": client}, RecordDict(), {})
        try:
            if fault is not None:
                raise RuntimeError(fault)
            return self.app(message, context)
        except Exception as error:  # as Flower does
            return Message(Error(2, repr(error)), reply_to=message)

    def set_run(self, run: Any) -> None:
        raise NotImplementedError

    @property
    def run(self) -> Any:
        raise NotImplementedError

    def create_message(self, *args: Any, **more: Any) -> Message:
        raise NotImplementedError

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError


def numbers(sizes: Iterable[int] = SIZES) -> list[tuple[Any, ...]]:
    """Regression clients, the last one with weights of its own."""
    rng = np.random.default_rng(0)
    results: list[tuple[Any, ...]] = []
    for k, rows in enumerate(sizes):
        X = rng.normal(0.3 * k, 1, (rows, 4))
        results.append((X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=rows)))
    return [*results[:-1], (*results[-1], rng.uniform(0.5, 2, len(results[-1][0])))]


def words() -> list[tuple[Any, ...]]:
    """Classification clients with named columns; no client has all classes."""
    rng = np.random.default_rng(1)
    results = []
    for k, rows in enumerate(SIZES):
        X = pd.DataFrame(rng.normal(0, 1, (rows, 4)), columns=list("abcd"))
        label = np.where(X["a"] > 0.5, "high", np.where(X["b"] > 0, "low", "middle"))
        if k < 2:
            label = np.where(label == "high", "low", label)
        results.append((X, label))
    return results


def regressor(**more: Any) -> TDAMPRegressor:
    """Small, and without pruning."""
    return TDAMPRegressor((8,), **{"batch_size": 16, "random_state": 3, **more})


def classifier() -> TDAMPClassifier:
    """Small, pruned, with a pair of inputs that stay or go together."""
    return TDAMPClassifier((8,), batch_size=16, random_state=3, keep=0.5, groups=[["a", "d"]])


def grid_of(rows: list[tuple[Any, ...]], **more: Any) -> DirectGrid:
    """Of clients with these rows."""
    return DirectGrid(client_app(lambda context: rows[context.node_config["partition-id"]]), len(rows), **more)


def played(
    rows: list[Any], options: dict[str, Any], rounds: Iterable[list[int]] | None = None
) -> tuple[Any, list[Any]]:
    """Regression rounds by hand, with these clients in each: the server and every client's losses, without Flower."""
    estimator: Any = regressor()
    checked = [check_rows(estimator, *row, *(None,) * (3 - len(row)), reset=True) for row in rows]
    summaries = {k: summary_of(X, y[:, None], w) for k, (X, y, w) in enumerate(checked)}
    terms, start = negotiate(estimator, summaries, None, **options)
    scaling = scaling_of_estimator(estimator)
    data = [scale_rows(*row, scaling[:2], scaling[2:]) for row in checked]
    clients = [Client(k, terms, part) for k, part in enumerate(data)]
    server = Server(terms, start, {k: float(part.weight.sum(dtype=np.float64)) for k, part in enumerate(data)})
    for some in rounds or [list(range(len(rows)))] * terms.rounds:
        server.aggregate({k: clients[k].train(server.broadcast(k)) for k in some})
    server.restore_best()
    return server, [lost_without_inputs(fitted_of(server, []), c.data.x, c.data.y, None) for c in clients]


def same(left: Any, right: Any) -> None:
    """Two fitted estimators with the same bits in all that was learned."""
    assert left.fitted_.network == right.fitted_.network
    parts = [(e.fitted_.state, e.fitted_.kept, e.fitted_.calibration) for e in (left, right)]
    trees = [
        (*part, e.lost_log_likelihood_, e.x_mean_, e.x_scale_) for part, e in zip(parts, (left, right), strict=True)
    ]
    jax.tree.map(np.testing.assert_array_equal, *trees)
    assert [_facts(record) for record in left.fitted_.history] == [_facts(r) for r in right.fitted_.history]
    assert left.n_rows_ == right.n_rows_ and left.settings_ == right.settings_


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "seconds"}
