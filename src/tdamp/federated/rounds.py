"""The rounds of a federation: who takes part, what a round does with the uploads, and all of it in one process.

A `RoundPolicy` is what in-process and Flower federations share: it draws a round's clients, checks their uploads and
ends the round, either with all that the clients send or with a noisy sum that keeps every client private.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..training.fitted import active_units
from ..training.outcome import TrainingWarning
from . import validate
from .client import Client, can_train_together, train_together
from .messages import Broadcast, FinalReport, Upload, n_bytes
from .preparation import fitted_of
from .privacy import central
from .privacy.central import Privacy
from .server import Diverged, Server

Record = dict[str, Any]


class RoundPolicy(Protocol):
    """What a federation does with a round's clients and their uploads."""

    def participants(self, server: Server, clients: Sequence[int]) -> list[int]:
        """The clients of the next round, ascending."""

    def min_uploads(self, wanted: int, invited: int) -> int:
        """Uploads without which a round does not count, if `wanted` are asked for and `invited` clients take part."""

    def problem_of_upload(self, server: Server, upload: Upload) -> str | None:
        """None for an upload that may count, or a sentence that says what is wrong with it."""

    def end_round(self, server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
        """Give the server its next posterior; returns the round's record for the history."""


class OpenRounds:
    """The server uses uploads as they are; `participation` is the fraction of the clients that a round has."""

    def __init__(self, participation: float = 1.0) -> None:
        self.participation = _fraction(participation)

    def participants(self, server: Server, clients: Sequence[int]) -> list[int]:
        """A random fraction of the clients, drawn by the terms' seed."""
        return participants(server.terms.seed, server.rounds_done, clients, self.participation)

    def min_uploads(self, wanted: int, invited: int) -> int:
        """A round needs as many uploads as are wanted."""
        return wanted

    def problem_of_upload(self, server: Server, upload: Upload) -> str | None:
        """What is wrong with an upload that no honest training sends, or None."""
        return validate.problem_of_upload(server, upload)

    def end_round(self, server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
        """The uploads are combined by `Server.aggregate`."""
        server.aggregate(uploads)
        rows = [float(upload.n_rows) for upload in uploads.values()]
        log_evidence = [float(upload.log_evidence) for upload in uploads.values()]
        return {
            "round": server.rounds_done,
            "clients": sorted(uploads),
            "left_out": sorted(sent.keys() - uploads.keys()),
            "bytes_down": sum(map(n_bytes, sent.values())),
            "bytes_up": sum(map(n_bytes, uploads.values())),
            **_posterior(server),
            "cavity_floors": server.floored,
            "log_evidence": float(np.average(log_evidence, weights=rows)),
            **({} if server.log_score is None else {"log_score": server.log_score}),
        }


class PrivateRounds:
    """The server uses the sum of the clients' clipped moves, with noise, and reveals nothing else of a round.

    Noise and draws come from the system's entropy. The history has the epsilon so far; it has neither the clients of a
    round nor what they report of their rows, which would be revealed without noise.
    """

    def __init__(self, privacy: Privacy, participation: float = 1.0, rng: np.random.Generator | None = None) -> None:
        self.privacy, self.participation = privacy, _fraction(participation)
        self.rng = rng or np.random.default_rng()

    def participants(self, server: Server, clients: Sequence[int]) -> list[int]:
        """The clients whose own coin says so; perhaps none."""
        central.check(server.terms)
        return central.drawn(self.rng, clients, self.participation)

    def min_uploads(self, wanted: int, invited: int) -> int:
        """A round needs as many uploads as are wanted, but no more than the coins invited."""
        return min(wanted, invited)

    def problem_of_upload(self, server: Server, upload: Upload) -> str | None:
        """What is wrong with an upload that cannot be clipped, or None."""
        return validate.malformed(server, upload)

    def end_round(self, server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
        """The server absorbs the noisy sum of the clipped moves (`central.absorb`), and reports no client."""
        moves = [central.moves_of(server.terms, sent[k], uploads[k]) for k in sorted(uploads)]
        total = central.private_sums(self.privacy, moves, central.size_of(server.state), self.rng)
        central.absorb(server, total, self.participation * len(server.rows))
        noise, delta = self.privacy.noise_multiplier, self.privacy.delta
        epsilon = central.epsilon(server.rounds_done, self.participation, noise, delta)
        return {"round": server.rounds_done, **_posterior(server), "epsilon": epsilon}


def round_policy(privacy: Privacy | None, participation: float) -> RoundPolicy:
    """Private rounds if `privacy` is given, else open ones."""
    return OpenRounds(participation) if privacy is None else PrivateRounds(privacy, participation)


def participants(seed: int, round: int, clients: Sequence[int], participation: float) -> list[int]:
    """The clients of a round: a random fraction of all, at least one, in ascending order."""
    numbers = sorted(clients)
    count = max(1, int(np.floor(_fraction(participation) * len(numbers) + 0.5)))
    chosen = np.random.default_rng((seed, round, len(numbers))).choice(numbers, count, replace=False)
    return sorted(int(number) for number in chosen)


def run_rounds(
    server: Server, clients: Sequence[Client], policy: RoundPolicy | None = None, *, together: bool = False
) -> Iterator[Record]:
    """The rounds that are left, in one process, one record each.

    `together` trains clients of about equal size as one program.
    """
    policy = policy or OpenRounds()
    while server.rounds_done < server.terms.rounds:
        started = time.perf_counter()
        present = policy.participants(server, [client.number for client in clients])
        sent = {number: server.broadcast(number) for number in present}
        invited = [client for client in clients if client.number in sent]
        uploads = _train(invited, sent, together and server.rule.same_broadcast)
        problems = {k: text for k, upload in uploads.items() if (text := policy.problem_of_upload(server, upload))}
        good = {k: upload for k, upload in uploads.items() if k not in problems}
        if len(good) < policy.min_uploads(1, len(sent)):
            raise Diverged(f"round {server.rounds_done + 1}: every upload was refused. {next(iter(problems.values()))}")
        record = policy.end_round(server, sent, good)
        for k, text in problems.items():
            warnings.warn(
                f"round {server.rounds_done}: client {k}'s upload is refused: {text} The others' uploads are used. "
                "Check that client's rows and that it runs this version of tdamp, or leave it out.",
                TrainingWarning,
                stacklevel=2,
            )
        yield record | {"seconds": time.perf_counter() - started}


def collect_reports(server: Server, clients: Sequence[Client]) -> list[FinalReport]:
    """The clients' reports on the final posterior; Diverged if none can be used."""
    fitted, reports, problem = fitted_of(server, []), [], None
    for client in clients:
        report = client.report(fitted)
        problem = validate.problem_of_report(server, report)
        if problem is None:
            reports.append(report)
        else:
            warnings.warn(
                f"client {client.number}'s conclusion is refused: {problem}. The others' are used. Check that client's "
                "rows and that it runs this version of tdamp, or leave it out.",
                TrainingWarning,
                stacklevel=3,
            )
    if not reports:
        raise Diverged(f"every client's conclusion was refused. {problem}")
    return reports


def _train(clients: Sequence[Client], sent: Mapping[int, Broadcast], together: bool) -> dict[int, Upload]:
    if together and can_train_together(clients):
        uploads = train_together(clients, sent[clients[0].number])
        return {client.number: upload for client, upload in zip(clients, uploads, strict=True)}
    return {client.number: client.train(sent[client.number]) for client in clients}


def _posterior(server: Server) -> Record:
    return {
        "active_units": [int(mask.sum()) for mask in active_units(server.state)],
        "noise_var": np.asarray(server.state.noise_var).tolist(),
    }


def _fraction(participation: float) -> float:
    if not 0 < participation <= 1:
        raise ValueError(f"participation={participation!r}: expected a fraction in (0, 1]")
    return participation
