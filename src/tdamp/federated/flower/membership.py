"""Who takes part: nodes that have introduced themselves, by the numbers of their clients."""

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
"""Seconds between two looks for new nodes, while there are too few."""


ROUNDING = 1e-9
"""By which a share may be above 1."""


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


class Meeting:
    """The nodes' introductions. A node that is new, or came back under another id, is asked when a round begins."""

    def __init__(self, task: str, rules: Rules) -> None:
        self.task, self.rules = task, rules
        self.known: dict[int, wire.Introduction] = {}  # by node
        self._complaints: dict[int, str] = {}

    def gather(self, grid: Any, at_least: int) -> dict[int, int]:
        """Nodes by client, ascending; waits until there are `at_least` so many clients."""
        end = time.monotonic() + self.rules.patience
        while True:
            online = sorted(grid.get_node_ids())
            self._ask(grid, [node for node in online if node not in self.known])
            found = self._present(online)
            if len(found) >= at_least:
                return found
            if time.monotonic() > end:
                raise TooFew(
                    f"{len(found)} clients are there, {at_least} are needed, and {self.rules.patience:g} seconds have "
                    "passed: look at the lines above and at the nodes' logs, start the nodes, and run again"
                )
            LOG.info("Waiting for clients: %d of %d are there (%d nodes).", len(found), at_least, len(online))
            time.sleep(PAUSE)

    def heard(self, replies: Iterable[Any], nodes: dict[int, int]) -> dict[int, Any]:
        """The contents of replies, by client; errors are said and left out."""
        clients = {node: client for client, node in nodes.items()}
        found = {}
        for reply in replies:
            client = clients.get(reply.metadata.src_node_id)
            if reply.has_error():
                LOG.warning("%s is left out: %s", _name(client), reply.error.reason or f"error {reply.error.code}")
            elif client is not None:
                found[client] = reply.content
        for client in sorted(nodes.keys() - found.keys()):
            LOG.warning("Client %d has not replied, or with an error.", client)
        return {client: found[client] for client in sorted(found)}

    def _ask(self, grid: Any, nodes: list[int]) -> None:
        """New nodes for their introductions; one that cannot give any is asked again next time."""
        if not nodes:
            return
        seconds = min(self.rules.round_timeout, self.rules.patience)  # the others wait for it
        messages = [wire.message(wire.INTRODUCE, n, wire.task_content(self.task), "", seconds) for n in nodes]
        for reply in sorted(grid.send_and_receive(messages, timeout=seconds), key=_node):
            if reply.has_error():
                self._complain(_node(reply), reply.error.reason or f"error {reply.error.code}")
                continue
            try:
                about = wire.introduction_from(reply.content)
            except (KeyError, TypeError, ValueError) as error:
                self._complain(_node(reply), f"its introduction cannot be read ({error!r})")
                continue
            wrong = self._misfit(about)
            if wrong is None:
                self.known[_node(reply)] = about
                LOG.info("Client %d is here, with %g rows.", about.number, about.n_rows)
            else:
                self._complain(_node(reply), wrong)

    def _misfit(self, about: wire.Introduction) -> str | None:
        """Why a client cannot take part with the others."""
        numbers = [np.asarray(part) for part in about.summary]
        if not all(np.isfinite(part).all() for part in numbers) or not 0 < about.n_rows < np.inf:
            return f"client {about.number}: its means, spreads or number of rows are not finite and positive"
        if not ((about.summary.x_nonzero >= 0) & (about.summary.x_nonzero <= 1 + ROUNDING)).all():
            return f"client {about.number}: its shares of zeros are not between 0 and 1"
        first = next(iter(self.known.values()), about)
        shapes = [part.shape for part in numbers]
        if about.names != first.names or shapes != [np.shape(part) for part in first.summary]:
            return (
                f"client {about.number} has {numbers[1].size} inputs and {numbers[3].size} outputs, client "
                f"{first.number} has {np.size(first.summary.x_mean)} and {np.size(first.summary.y_mean)}, or their "
                "names differ: all clients need the same columns in the same order"
            )
        if len({isinstance(label, str) for label in (*(first.labels or ()), *(about.labels or ()))}) > 1:
            return f"the labels of clients {about.number} and {first.number} are text here and numbers there"
        return None

    def _present(self, online: list[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for node, about in self.known.items():
            if node not in online:
                continue
            if about.number in found:
                self._complain(
                    node,
                    f"it says that it is client {about.number}, as node {found[about.number]} does: give each node a "
                    "partition-id of its own (a node that was started again is let in when its old self has gone)",
                )
            else:
                found[about.number] = node
        return dict(sorted(found.items()))

    def _complain(self, node: int, reason: str) -> None:
        """Once, until it changes."""
        if self._complaints.get(node) != reason:
            self._complaints[node] = reason
            LOG.warning("Node %d is left out: %s", node, reason)


def _node(reply: Any) -> int:
    return int(reply.metadata.src_node_id)


def _name(client: int | None) -> str:
    return "A client" if client is None else f"Client {client}"
