"""Clients that fail, are silent, come late, or say what cannot be: the others go on, and the log says so.

covers: federated.flower.client, federated.flower.membership, federated.flower.strategy
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from helpers.flower_grid import DirectGrid, classifier, grid_of, numbers, played, regressor, same, words
from tdamp.federated import federated_fit, validate
from tdamp.federated.flower import Rules, Stalled, TooFew, federate, membership, strategy
from tdamp.federated.flower.client import number_of

ROUNDS: dict[str, Any] = {"rounds": 2, "local_epochs": 1}


@pytest.fixture
def flower_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What Flower's log says."""
    logger = logging.getLogger("flwr")
    logger.addHandler(caplog.handler)
    yield caplog
    logger.removeHandler(caplog.handler)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between two looks for nodes."""
    monkeypatch.setattr(membership, "PAUSE", 0.0)


@pytest.mark.parametrize("fault", ["error", "silent"])
def test_a_client_that_fails_is_left_out(fault: str, flower_log: pytest.LogCaptureFixture) -> None:
    """twin: a round without the client is a round in which only the others were drawn; weights are their shares."""
    rows = numbers()
    grid = grid_of(rows)
    grid.broken = lambda client, kind, group: fault if (client, kind, group) == (1, "train", "2") else None
    federated = federate(grid, regressor(), rules=Rules(min_clients=3, min_replies=2), **ROUNDS)
    assert federated.history["clients"].tolist() == [[0, 1, 2], [0, 2]]
    assert "Client 1" in flower_log.text
    server, _ = played(rows, ROUNDS, [[0, 1, 2], [0, 2]])
    for layer, other in zip(federated.estimator.fitted_.state.layers, server.state.layers, strict=True):
        np.testing.assert_array_equal(layer.weight.mean, other.weight.mean)
        np.testing.assert_array_equal(layer.weight.var, other.weight.var)


def test_too_few_replies_repeat_the_round(flower_log: pytest.LogCaptureFixture) -> None:
    """twin: a round that failed for most and is repeated leaves no trace in the result."""
    rows, first = numbers(), []
    grid = grid_of(rows)

    def broken(client: int, kind: str, group: str) -> str | None:
        fails = client > 0 and (kind, group) == ("train", "1") and first.count(client) == 0
        first.append(client)
        return "error" if fails and kind == "train" else None

    grid.broken = lambda client, kind, group: broken(client, kind, group) if kind == "train" else None
    federated = federate(grid, regressor(), rules=Rules(min_clients=3, min_replies=2), **ROUNDS)
    assert "Round 1 does not count (1 uploads, 2 are needed)" in flower_log.text
    same(federated.estimator, federated_fit(regressor(), rows, **ROUNDS).estimator)


def test_a_run_that_never_gets_on_ends() -> None:
    """contract: after MOST_FAILED rounds that did not count, with a word about the checkpoint."""
    grid = grid_of(numbers())
    grid.broken = lambda client, kind, group: "error" if kind == "train" else None
    with pytest.raises(Stalled, match=r"0 uploads, 1 are needed.*checkpoint"):
        federate(grid, regressor(), rules=Rules(min_clients=3), **ROUNDS)
    assert sum(kind == "train" for _, kind, _ in grid.asked) == 3 * strategy.MOST_FAILED


def test_a_late_client_joins_the_next_round() -> None:
    """contract: it is asked who it is, its rows count from its first upload on."""
    rows = numbers()
    grid = grid_of(rows)
    late = {node: client for node, client in grid.nodes.items() if client == 1}
    grid.nodes = {node: client for node, client in grid.nodes.items() if client != 1}

    class Opening(DirectGrid):
        def send_and_receive(self, messages: Any, **more: Any) -> Any:
            replies = super().send_and_receive(messages, **more)
            self.nodes |= late if self.asked[-1][1] == "train" else {}
            return replies

    grid.__class__ = Opening
    federated = federate(grid, regressor(early_stopping=False), rules=Rules(min_clients=2), **ROUNDS)
    assert federated.history["clients"].tolist() == [[0, 2], [0, 1, 2]]
    weight = sum(len(row[0]) if len(row) == 2 else row[2].sum() for row in rows)
    assert federated.estimator.n_rows_ == int(weight)


def test_refused_uploads_are_left_out(monkeypatch: pytest.MonkeyPatch, flower_log: pytest.LogCaptureFixture) -> None:
    """contract: what `problem_of_upload` names, and what cannot be read, is not in the round."""
    grid = grid_of(numbers())
    real = grid.app

    def app(message: Any, context: Any) -> Any:
        reply = real(message, context)
        if context.node_config["partition-id"] == 2 and message.metadata.message_type == "train":
            del reply.content["arrays"]["noise_var"]
        return reply

    grid.app = app
    heaviest = numbers()[1][0].shape[0]
    refuse = lambda server, upload: "too heavy" if float(upload.n_rows) == heaviest else None  # noqa: E731
    monkeypatch.setattr(validate, "problem_of_upload", refuse)
    federated = federate(grid, regressor(early_stopping=False), rules=Rules(min_clients=3), rounds=1, local_epochs=1)
    assert federated.history["clients"].tolist() == [[0]]
    assert "Client 1's upload is refused: too heavy" in flower_log.text
    assert "Client 2's upload is refused: it cannot be read (KeyError('noise_var'))" in flower_log.text


def test_clients_that_do_not_fit_are_named(flower_log: pytest.LogCaptureFixture) -> None:
    """contract: other columns, an infinite number, a number taken twice; the run ends for want of clients."""
    good = numbers()[0]
    narrow, huge = (good[0][:, :3], good[1]), (good[0], np.where(np.arange(len(good[1])) == 0, np.inf, good[1]))
    grid = grid_of([good, narrow, huge])
    grid.nodes |= {2000: 0}
    with pytest.raises(TooFew, match="1 clients are there, 2 are needed"):
        federate(grid, regressor(), rules=Rules(min_clients=2, patience=1e-6), **ROUNDS)
    assert "client 1 has 3 inputs and 1 outputs, client 0 has 4 and 1" in flower_log.text
    assert "Input y contains infinity" in flower_log.text
    assert "Node 2000 is left out: it says that it is client 0" in flower_log.text


def test_labels_that_do_not_fit(flower_log: pytest.LogCaptureFixture) -> None:
    """contract: text here and numbers there; weights by class, which no client can know."""
    (X, y), *_ = words()
    grid = grid_of([(X, y), (X, (y == "low").astype(int))])
    with pytest.raises(TooFew):
        federate(grid, classifier(), rules=Rules(min_clients=2, patience=1e-6), **ROUNDS)
    assert "the labels of clients 1 and 0 are text here and numbers there" in flower_log.text
    with pytest.raises(ValueError, match="class_weight needs all labels in one place"):
        federate(grid, classifier().set_params(class_weight="balanced"), **ROUNDS)


def test_rules_and_numbers() -> None:
    """contract: what cannot be asked for, and a node without a number."""
    for wrong in ({"min_replies": 2}, {"participation": 0.0}, {"round_timeout": 0.0}, {"patience": -1.0}):
        with pytest.raises(ValueError, match="expected"):
            Rules(**wrong)  # type: ignore[arg-type]

    class Context:
        node_config: dict[str, Any] = {"partition-id": "0"}  # noqa: RUF012

    with pytest.raises(ValueError, match=r"partition-id is '0'.*--node-config"):
        number_of(Context())
