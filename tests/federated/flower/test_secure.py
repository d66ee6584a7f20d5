"""secure_flower: Flower's SecAgg+ adds exactly, shows the server one total, and survives the loss of a client."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from flwr.app import Context, Error, Message, RecordDict
from flwr.common import bytes_to_ndarray, ndarrays_to_parameters
from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_CONFIGS, Key, Stage
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.flower_grid import DirectGrid
from helpers.little_federation import federation, problem, terms, uploads_of
from tdamp.federated.flower.secure import (
    DIGITS,
    HALF,
    SecureSumClient,
    SecureSumStrategy,
    client_app,
    digits_of,
    server_app,
    total_of,
)
from tdamp.federated.messages import named
from tdamp.federated.privacy import central, secure_sum

CLIENTS, ROUNDS = 3, 2


def little() -> tuple[Any, list[Any]]:
    """Three clients of different sizes, with momentum."""
    parts = [np.arange(0, 64), np.arange(64, 104), np.arange(104, 152)]
    agreed = terms("regression", ROUNDS, step=1.2, momentum=0.3)
    return federation(agreed, *problem("regression", 152), parts)


class Wire(DirectGrid):
    """Keeps a client's secrets between the steps of the protocol; client `lost` is gone when round 2 is summed."""

    run = SimpleNamespace(run_id=1)

    def __init__(self, app: Any, lost: int | None) -> None:
        super().__init__(app, CLIENTS)
        self.contexts = {n: Context(1, n, {"partition-id": k}, RecordDict(), {}) for n, k in self.nodes.items()}
        self.lost = lost
        self.collected: list[Message] = []

    def _answer(self, message: Message) -> Message | None:
        message = deepcopy(message)  # as if it had travelled: Flower sends one object to all
        meta = message.metadata
        meta.__dict__["_message_id"] = "m"
        summing = message.content.config_records[RECORD_KEY_CONFIGS][Key.STAGE] == Stage.COLLECT_MASKED_VECTORS
        if summing and meta.group_id == "2" and self.nodes[meta.dst_node_id] == self.lost:
            return Message(Error(2, "gone"), reply_to=message)
        reply = self.app(message, self.contexts[meta.dst_node_id])
        self.collected += [reply] if summing else []
        return reply


@pytest.mark.parametrize("lost", [None, 1])
def test_flower_sums_exactly_and_sees_no_upload(lost: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """twin: the same sums in one process, to the last bit, also without a client that is lost when masks are on.

    The strategy gets one total, no row counts and no metrics; on the wire every number is masked: none is what the
    client put in, and all look like draws from 2^32 numbers.
    """
    server, clients = little()
    seen, sent, end, fit = [], [], SecureSumStrategy.aggregate_fit, SecureSumClient.fit

    def ended(self: Any, server_round: int, results: Any, failures: Any) -> Any:
        seen.append([(result.parameters.tensors, result.num_examples, result.metrics) for _, result in results])
        return end(self, server_round, results, failures)

    def fitted(self: Any, parameters: Any, config: Any) -> Any:
        sent.append(fit(self, parameters, config))
        return sent[-1]

    monkeypatch.setattr(SecureSumStrategy, "aggregate_fit", ended)
    monkeypatch.setattr(SecureSumClient, "fit", fitted)
    wire = Wire(client_app(lambda context: clients[int(context.node_config["partition-id"])]), lost)
    server_app(server, CLIENTS)(wire, Context(1, 0, {}, RecordDict(), {}))

    twin, _ = little()
    for present in (clients, [client for client in clients if client.number != lost]):
        parts = [secure_sum.sums_of(twin.terms, twin.broadcast(k), u) for k, u in uploads_of(twin, present).items()]
        secure_sum.absorb(
            twin, secure_sum.decoded(secure_sum.added([secure_sum.encoded(part, CLIENTS) for part in parts]))
        )
    for one, other in zip(jax.tree.leaves(server.state), jax.tree.leaves(twin.state), strict=True):
        np.testing.assert_array_equal(one, other)

    assert [len(round) for round in seen] == [3, 3 - (lost is not None)]
    assert all(result == (round[0][0], 1, {}) for round in seen for result in round)
    assert len(wire.collected) == len(sent) == sum(map(len, seen))
    for reply, (digits, *_) in zip(wire.collected, sent, strict=True):
        assert not any(record for record in reply.content.array_records.values())
        masked: Any = reply.content.config_records[RECORD_KEY_CONFIGS][Key.MASKED_PARAMETERS]
        numbers = np.concatenate([bytes_to_ndarray(array).ravel() for array in masked[1:]])
        plain = np.concatenate([array.ravel() for array in digits]) + HALF
        assert np.mean(numbers == plain) < 0.01
        assert abs(np.mean(numbers / 2**32) - 0.5) < 5 / np.sqrt(12 * len(numbers))  # five standard errors


@given(numbers=arrays(np.uint64, (4, 2), elements=st.integers(0, 2**64 - 1)))
def test_digits_add_up(numbers: np.ndarray) -> None:
    """identity: the mean of the clients' digits is their total modulo 2^64; every digit is within SecAgg+'s range."""
    digits = np.stack([digits_of(number) for number in numbers])
    assert digits.shape[1] == DIGITS and (np.abs(digits) <= HALF).all() and (digits == np.rint(digits)).all()
    np.testing.assert_array_equal(total_of(digits.mean(0), len(numbers)), numbers.sum(0, dtype=np.uint64))


def test_private_moves_through_digits() -> None:
    """twin: the sum of the clients' clipped moves, noise being far below rounding; only digits leave a client."""
    (server, clients), (twin, _) = little(), little()
    privacy, sent = central.Privacy(2.0, 1e-12), server.broadcast(0)
    config: Any = {"names": ",".join(named(sent)), "clients": CLIENTS}
    replies = [SecureSumClient(client, privacy).fit(list(named(sent).values()), config) for client in clients]
    assert all(len(arrays) == 1 and rest == [1, {}] for arrays, *rest in replies)
    mean = ndarrays_to_parameters([np.mean([arrays[0] for arrays, *_ in replies], 0)])
    SecureSumStrategy(server, CLIENTS, moves=True).aggregate_fit(
        1, [(None, SimpleNamespace(parameters=mean))] * CLIENTS, []
    )
    moves = [central.moves_of(twin.terms, sent, upload) for upload in uploads_of(twin, clients).values()]
    assert all(np.linalg.norm(move) > privacy.clip for move in moves)
    central.absorb(twin, central.private_sums(privacy, moves, moves[0].size, np.random.default_rng(0)), CLIENTS)
    for one, other in zip(jax.tree.leaves(server.state), jax.tree.leaves(twin.state), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("clients", [1, 1024])
def test_too_few_or_too_many(clients: int) -> None:
    """contract: one client alone cannot be hidden, and a total of too many would not fit."""
    with pytest.raises(ValueError, match="n_clients"):
        server_app(little()[0], clients)
