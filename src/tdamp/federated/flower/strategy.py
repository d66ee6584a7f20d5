"""The strategy: `Server`'s rounds as Flower's. Paper: Algorithm 2.

Replies are sorted by client before anything is summed, so that their order of arrival changes nothing. Whoever does not
reply in time, replies with an error, or sends what the round policy refuses, is left out: the weights are the shares
of those that remain. Oracle: `federated_fit`, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..._optional import need
from ..messages import Broadcast, FinalReport, Upload, upload_from
from ..rounds import Record, RoundPolicy
from ..server import Diverged, Server
from ..summary import Scaling
from ..validate import problem_of_report
from . import wire
from .membership import LOG, Membership

MOST_FAILED = 3
"""So many rounds in succession may fail; then the run ends, and may be started again from its checkpoint."""

Strategy: Any = need("flwr.serverapp.strategy", "federated").Strategy


class Stalled(RuntimeError):
    """Round after round did not count."""


class FedPosterior(Strategy):
    """Sends the server's posterior to the clients and makes the next one of theirs.

    `after_round` is called when a round has counted, with `history`, its records so far.
    """

    def __init__(
        self,
        server: Server,
        membership: Membership,
        scaling: Scaling,
        classes: list[Any] | None,
        history: list[Record],
        after_round: Callable[[list[Record]], Any],
        policy: RoundPolicy,
    ) -> None:
        self.server, self.membership, self.scaling, self.classes = server, membership, scaling, classes
        self.history, self.after_round, self.policy = history, after_round, policy
        self._nodes: dict[int, int] = {}
        self._sent: dict[int, Broadcast] = {}
        self._started = 0.0
        self._failed = 0

    def summary(self) -> None:
        """Log the terms and rules before the first round."""
        terms, rules = self.server.terms, self.membership.rules
        LOG.info(
            "\t├── %s of posteriors, %d of %d rounds done, %d local epochs",
            terms.aggregation, self.server.rounds_done, terms.rounds, terms.local_epochs,
        )  # fmt: skip
        LOG.info("\t└── at least %d replies, within %g s", rules.min_replies, rules.round_timeout)

    def run(self, grid: Any) -> None:
        """All rounds that are left; those that failed are made up for."""
        nothing = wire.flwr.ArrayRecord()  # what is sent is made by `Server.broadcast`
        while (left := self.server.terms.rounds - self.server.rounds_done) > 0:
            self.start(grid, nothing, num_rounds=left, timeout=self.membership.rules.round_timeout)

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> list[Any]:
        """A message for each client of the round."""
        nodes = self.membership.wait_for_clients(grid, self.membership.rules.min_replies)
        present = self.policy.participants(self.server, list(nodes))
        self._started = time.perf_counter()
        self._nodes = {number: nodes[number] for number in present}
        self._sent = {number: self.server.broadcast(number) for number in present}
        return self._messages(wire.TRAIN, f"{self.server.rounds_done + 1}")

    def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> tuple[None, Any]:
        """The server's next posterior, or the old one if there are too few uploads."""
        uploads = self._uploads(self.membership.contents_by_client(replies, self._nodes))
        least = self.policy.min_uploads(self.membership.rules.min_replies, len(self._nodes))
        if len(uploads) < least:
            return self._repeat_round(f"{len(uploads)} uploads, {least} are needed")
        try:
            record = self.policy.end_round(self.server, self._sent, uploads)
        except Diverged as error:
            return self._repeat_round(str(error))
        self._failed = 0
        record["seconds"] = time.perf_counter() - self._started
        self.history.append(record)
        self.after_round(self.history)
        LOG.info("Round %d counts: clients %s.", record["round"], ", ".join(map(str, sorted(uploads))))
        shown: dict[str, float] = {name: record[name] for name in ("log_evidence", "epsilon") if name in record}
        shown["units"] = sum(record["active_units"])
        return None, wire.flwr.MetricRecord(shown)

    def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> list[Any]:
        """Nothing: an upload has its log evidence already."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Any]) -> None:
        """Nothing, as no one was asked."""
        return None

    def final_reports(self, grid: Any) -> list[FinalReport]:
        """The clients' reports on the final posterior; the losses of those that reply stand for all."""
        rules = self.membership.rules
        for _ in range(MOST_FAILED):
            self._nodes = self.membership.wait_for_clients(grid, rules.min_replies)
            self._sent = dict.fromkeys(self._nodes, _final_broadcast(self.server))
            replies = grid.send_and_receive(self._messages(wire.CONCLUDE, "end"), timeout=rules.round_timeout)
            reports = self._readable_reports(self.membership.contents_by_client(replies, self._nodes))
            if reports:
                whole = sum(self.server.rows.values()) / sum(float(one.n_rows) for one in reports)
                return [one._replace(lost=one.lost * whole) for one in reports]
        raise Stalled(f"no client has concluded, {MOST_FAILED} times: run again, to go on from the checkpoint")

    def _messages(self, kind: str, group: str) -> list[Any]:
        messages = []
        for number, node in self._nodes.items():
            instructions = wire.Instructions(
                number, self.server.terms, self._sent[number], self.scaling, self.classes, self.server.ids
            )
            content = wire.instructions_content(instructions)
            messages.append(wire.message(kind, node, content, group, self.membership.rules.round_timeout))
        return messages

    def _uploads(self, contents: dict[int, Any]) -> dict[int, Upload]:
        uploads = {}
        for number, content in contents.items():
            try:
                upload = upload_from(wire.arrays_of(content["arrays"]), self.server.network.n_layers)
                reason = self.policy.problem_of_upload(self.server, upload)
            except (KeyError, TypeError, ValueError) as error:
                reason = f"it cannot be read ({error!r})"
            if reason is None:
                uploads[number] = upload
            else:
                LOG.warning("Client %d's upload is refused: %s", number, reason)
        return uploads

    def _readable_reports(self, contents: dict[int, Any]) -> list[FinalReport]:
        reports = []
        for number, content in contents.items():
            try:
                arrays = wire.arrays_of(content["arrays"])
                report = FinalReport(**arrays)
                reason = problem_of_report(self.server, report)
            except (KeyError, TypeError, ValueError) as error:
                reason = f"it cannot be read ({error!r})"
            if reason is None:
                reports.append(report)
            else:
                LOG.warning("Client %d's conclusion is left out: %s", number, reason)
        return reports

    def _repeat_round(self, reason: str) -> tuple[None, None]:
        self._failed += 1
        done = self.server.rounds_done
        LOG.warning("Round %d does not count (%s): the posterior stays, the round is repeated.", done + 1, reason)
        if self._failed >= MOST_FAILED:
            raise Stalled(
                f"{MOST_FAILED} rounds in succession did not count ({reason}): look at the lines above and at the "
                "clients' logs, and run again, to go on from the checkpoint"
            )
        return None, None


def _final_broadcast(server: Server) -> Broadcast:
    """The final posterior as it is: not packed, without anchors."""
    return Broadcast(server.state, server.kept[0].astype(np.int32), None, np.asarray(0.0), np.asarray(0, np.int32))
