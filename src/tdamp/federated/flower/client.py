"""The ClientApp: it answers every message of the server, from rows that stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..._optional import need
from ...estimators import ESTIMATOR_OF_TASK
from ...estimators.preprocess import check_rows, scale_rows
from ...training.compilation import keep_compiled
from ..client import Client, posterior_of
from ..messages import named
from ..summary import summary_of
from . import wire

NUMBER = "partition-id"
"""The client's number in its node's configuration: Flower's own name, which its simulation engine gives too."""

Rows = Callable[[Any], tuple[Any, ...]]
"""(X, y) or (X, y, sample_weight) of the client whose Flower context it is given."""


def client_app(rows: Rows) -> Any:
    """A ClientApp that trains on what `rows` gives; it asks anew for every message, as each may be a new process."""
    app = need("flwr.clientapp", "federated").ClientApp()

    @app.query("introduce")
    def introduce(message: Any, context: Any) -> Any:
        handshake = handshake_of(wire.task_from(message.content), rows, context)
        return wire.reply(wire.handshake_content(handshake), message)

    @app.train()
    def train(message: Any, context: Any) -> Any:
        instructions = wire.instructions_from(message.content)
        upload = _client(instructions, rows, context).train(instructions.broadcast)
        return wire.reply(wire.arrays_content(named(upload)), message)

    @app.query("conclude")
    def conclude(message: Any, context: Any) -> Any:
        instructions = wire.instructions_from(message.content)
        report = _client(instructions, rows, context).report(posterior_of(instructions.terms, instructions.broadcast))
        return wire.reply(wire.arrays_content(named(report)), message)

    return app


def handshake_of(task: str, rows: Rows, context: Any) -> wire.Handshake:
    """The client's handshake: numbers about its rows, none of the rows themselves."""
    estimator, (X, y, weight) = _checked(task, rows(context))
    classification = is_classifier(estimator)
    return wire.Handshake(
        number_of(context),
        float(np.asarray(weight, np.float32).sum(dtype=np.float64)),
        summary_of(X, None if classification else y.reshape(len(y), -1), weight),
        tuple(getattr(estimator, "feature_names_in_", ())),
        np.unique(y).tolist() if classification else None,
        y.ndim == 1,
    )


def number_of(context: Any) -> int:
    """The client's number, or ValueError."""
    number = context.node_config.get(NUMBER)
    if type(number) is not int or number < 0:
        raise ValueError(
            f"{NUMBER} is {number!r} in this node's configuration: expected a whole number from 0 on, another one for "
            f"each node: start it with --node-config '{NUMBER}=0 ...'"
        )
    return number


def _checked(task: str, rows: tuple[Any, ...]) -> tuple[Any, tuple[Any, Any, Any]]:
    """The rows as `federated_fit` would take them, and the estimator that has looked at them."""
    estimator: Any = ESTIMATOR_OF_TASK[task]()
    X, y, sample_weight = (*rows, None)[:3]
    return estimator, check_rows(estimator, X, y, sample_weight, reset=True)


def _client(instructions: wire.Instructions, rows: Rows, context: Any) -> Client:
    keep_compiled()
    task = instructions.terms.network.task
    X, y, weight = _checked(task, rows(context))[1]
    if X.shape[1] != len(instructions.scaling.x_mean):
        raise ValueError(
            f"the rows have {X.shape[1]} inputs, but the federation has {len(instructions.scaling.x_mean)}"
        )
    if instructions.classes is not None and not np.isin(y, instructions.classes).all():
        new = sorted(set(np.unique(y).tolist()) - set(instructions.classes))
        raise ValueError(f"the rows have classes that the federation began without ({new}): leave these rows out")
    scaling, classes = instructions.scaling, instructions.classes
    data = scale_rows(X, y, weight, scaling[:2], scaling[2:], None if classes is None else np.asarray(classes))
    return Client(instructions.number, instructions.terms, data, instructions.ids)
