"""Membership: the nodes that have introduced themselves by a handshake, by the numbers of their clients."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import wire

LOG = logging.getLogger("flwr")
"""Flower's own: its lines are what `flwr run --stream` shows."""

PAUSE = 3.0
"""Seconds between two searches for new nodes, while there are too few."""


ROUNDING = 1e-9
"""A share may be above 1 by so much, which is rounding."""


class TooFew(RuntimeError):
    """Not enough clients came, or came back, in time."""


@dataclass(frozen=True)
class Rules:
    """What the server asks for.

    min_clients: as many must have introduced themselves before the first round.
    min_replies: with fewer uploads a round does not count and is repeated.
    participation: the part of the clients that is drawn for each round.
    round_timeout: seconds after which a round goes on without those that have not replied.
    patience: seconds to wait for clients, while there are fewer than the rules ask for.
    """

    min_clients: int = 1
    min_replies: int = 1
    participation: float = 1.0
    round_timeout: float = 3600.0
    patience: float = 600.0

    def __post_init__(self) -> None:
        """Raise ValueError for rules that cannot be kept."""
        if not 1 <= self.min_replies <= self.min_clients:
            raise ValueError(
                f"min_replies={self.min_replies}, min_clients={self.min_clients}: "
                "expected 1 <= min_replies <= min_clients"
            )
        if not 0 < self.participation <= 1:
            raise ValueError(f"participation={self.participation!r}: expected a fraction in (0, 1]")
        if not self.round_timeout > 0 or not self.patience > 0:
            raise ValueError(
                f"round_timeout={self.round_timeout}, patience={self.patience}: expected positive numbers of seconds"
            )


class Membership:
    """The nodes' handshakes. A node that is new, or came back under another id, is asked when a round begins."""

    def __init__(self, task: str, rules: Rules) -> None:
        self.task, self.rules = task, rules
        self.handshakes: dict[int, wire.Handshake] = {}  # by node
        self._warned: dict[int, str] = {}

    def wait_for_clients(self, grid: Any, at_least: int) -> dict[int, int]:
        """Nodes by client, ascending; waits until there are `at_least` so many clients."""
        end = time.monotonic() + self.rules.patience
        while True:
            online = sorted(grid.get_node_ids())
            self._request_handshakes(grid, [node for node in online if node not in self.handshakes])
            present = self._present(online)
            if len(present) >= at_least:
                return present
            if time.monotonic() > end:
                raise TooFew(
                    f"{len(present)} clients are there, {at_least} are needed, and {self.rules.patience:g} seconds "
                    "have passed: look at the lines above and at the nodes' logs, start the nodes, and run again"
                )
            LOG.info("Waiting for clients: %d of %d are there (%d nodes).", len(present), at_least, len(online))
            time.sleep(PAUSE)

    def contents_by_client(self, replies: Iterable[Any], nodes: dict[int, int]) -> dict[int, Any]:
        """The contents of replies, by client; errors are logged and left out."""
        clients = {node: client for client, node in nodes.items()}
        contents = {}
        for reply in replies:
            client = clients.get(reply.metadata.src_node_id)
            if reply.has_error():
                LOG.warning("%s is left out: %s", _name(client), reply.error.reason or f"error {reply.error.code}")
            elif client is not None:
                contents[client] = reply.content
        for client in sorted(nodes.keys() - contents.keys()):
            LOG.warning("Client %d has not replied, or with an error.", client)
        return {client: contents[client] for client in sorted(contents)}

    def _request_handshakes(self, grid: Any, nodes: list[int]) -> None:
        """Ask new nodes for their handshakes; one that cannot give any is asked again next time."""
        if not nodes:
            return
        seconds = min(self.rules.round_timeout, self.rules.patience)  # the others wait for it
        messages = [wire.message(wire.INTRODUCE, n, wire.task_content(self.task), "", seconds) for n in nodes]
        for reply in sorted(grid.send_and_receive(messages, timeout=seconds), key=_node):
            if reply.has_error():
                self._warn_once(_node(reply), reply.error.reason or f"error {reply.error.code}")
                continue
            try:
                handshake = wire.handshake_from(reply.content)
            except (KeyError, TypeError, ValueError) as error:
                self._warn_once(_node(reply), f"its introduction cannot be read ({error!r})")
                continue
            reason = self._mismatch(handshake)
            if reason is None:
                self.handshakes[_node(reply)] = handshake
                LOG.info("Client %d is here, with %g rows.", handshake.number, handshake.n_rows)
            else:
                self._warn_once(_node(reply), reason)

    def _mismatch(self, handshake: wire.Handshake) -> str | None:
        """Why a client cannot take part with the others."""
        numbers = [np.asarray(part) for part in handshake.summary]
        if not all(np.isfinite(part).all() for part in numbers) or not 0 < handshake.n_rows < np.inf:
            return f"client {handshake.number}: its means, spreads or number of rows are not finite and positive"
        if not ((handshake.summary.x_nonzero >= 0) & (handshake.summary.x_nonzero <= 1 + ROUNDING)).all():
            return f"client {handshake.number}: its shares of zeros are not between 0 and 1"
        first = next(iter(self.handshakes.values()), handshake)
        shapes = [part.shape for part in numbers]
        if handshake.names != first.names or shapes != [np.shape(part) for part in first.summary]:
            return (
                f"client {handshake.number} has {numbers[1].size} inputs and {numbers[3].size} outputs, client "
                f"{first.number} has {np.size(first.summary.x_mean)} and {np.size(first.summary.y_mean)}, or their "
                "names differ: all clients need the same columns in the same order"
            )
        if len({isinstance(label, str) for label in (*(first.labels or ()), *(handshake.labels or ()))}) > 1:
            return f"the labels of clients {handshake.number} and {first.number} are text here and numbers there"
        return None

    def _present(self, online: list[int]) -> dict[int, int]:
        nodes: dict[int, int] = {}
        for node, handshake in self.handshakes.items():
            if node not in online:
                continue
            if handshake.number in nodes:
                self._warn_once(
                    node,
                    f"it says that it is client {handshake.number}, as node {nodes[handshake.number]} does: give each "
                    "node a partition-id of its own (a node that was started again is let in when its old self has "
                    "gone)",
                )
            else:
                nodes[handshake.number] = node
        return dict(sorted(nodes.items()))

    def _warn_once(self, node: int, reason: str) -> None:
        """Log why a node is left out: once, until the reason changes."""
        if self._warned.get(node) != reason:
            self._warned[node] = reason
            LOG.warning("Node %d is left out: %s", node, reason)


def _node(reply: Any) -> int:
    return int(reply.metadata.src_node_id)


def _name(client: int | None) -> str:
    return "A client" if client is None else f"Client {client}"
