"""A federation in one process: server and clients hand each other what they would send."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence

from ..training.outcome import TrainingWarning
from .client import Client, can_train_together, train_together
from .messages import Broadcast, Conclusion, Upload
from .preparation import fitted_of
from .rounds import Ending, Open, Record
from .server import Diverged, Server
from .validate import refused_conclusion


def play(
    server: Server, clients: Sequence[Client], ending: Ending | None = None, *, together: bool = False
) -> Iterator[Record]:
    """The rounds that are left, one record each. `together` trains clients of about equal size as one program."""
    ending = ending or Open()
    while server.rounds_done < server.terms.rounds:
        started = time.perf_counter()
        present = ending.drawn(server, [client.number for client in clients])
        sent = {number: server.broadcast(number) for number in present}
        some = [client for client in clients if client.number in sent]
        uploads = _train(some, sent, together and server.terms.aggregation != "sites")
        reasons = {k: reason for k, upload in uploads.items() if (reason := ending.refused(server, upload))}
        good = {k: upload for k, upload in uploads.items() if k not in reasons}
        if len(good) < ending.least(1, len(sent)):
            raise Diverged(f"round {server.rounds_done + 1}: every upload was refused. {next(iter(reasons.values()))}")
        found = ending.end(server, sent, good)
        for k, reason in reasons.items():
            warnings.warn(
                f"round {server.rounds_done}: client {k}'s upload is refused: {reason} The others' uploads are used. "
                "Check that client's rows and that it runs this version of tdamp, or leave it out.",
                TrainingWarning,
                stacklevel=2,
            )
        yield found | {"seconds": time.perf_counter() - started}


def concluded(server: Server, clients: Sequence[Client]) -> list[Conclusion]:
    """What the clients say of the final posterior."""
    fitted, found = fitted_of(server, []), []
    for client in clients:
        conclusion = client.conclude(fitted)
        reason = refused_conclusion(server, conclusion)
        if reason is None:
            found.append(conclusion)
        else:
            warnings.warn(
                f"client {client.number}'s conclusion is refused: {reason}. The others' are used. Check that client's "
                "rows and that it runs this version of tdamp, or leave it out.",
                TrainingWarning,
                stacklevel=3,
            )
    if not found:
        raise Diverged(f"every client's conclusion was refused. {reason}")
    return found


def _train(clients: Sequence[Client], sent: Mapping[int, Broadcast], together: bool) -> dict[int, Upload]:
    if together and can_train_together(clients):
        found = train_together(clients, sent[clients[0].number])
        return {client.number: upload for client, upload in zip(clients, found, strict=True)}
    return {client.number: client.train(sent[client.number]) for client in clients}
