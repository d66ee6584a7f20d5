"""A federation in one process: server and clients hand each other what they would send."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..training import active_units
from .client import Client, can_train_together, train_together
from .exchange import Broadcast, Upload, n_bytes
from .server import Diverged, Server
from .validate import refused

Record = dict[str, Any]


def play(
    server: Server, clients: Sequence[Client], *, participation: float = 1.0, together: bool = False
) -> Iterator[Record]:
    """The rounds that are left, one record each. `together` trains clients of equal size as one program."""
    while server.rounds_done < server.terms.rounds:
        started = time.perf_counter()
        present = participants(server.terms.seed, server.rounds_done, [c.number for c in clients], participation)
        sent = {number: server.broadcast(number) for number in present}
        some = [client for client in clients if client.number in sent]
        uploads = _train(some, sent, together and server.terms.aggregation != "sites")
        reasons = {k: reason for k, upload in uploads.items() if (reason := refused(server, upload))}
        good = {k: upload for k, upload in uploads.items() if k not in reasons}
        if not good:
            raise Diverged(f"round {server.rounds_done + 1}: every upload was refused. {next(iter(reasons.values()))}")
        server.aggregate(good)
        for k, reason in reasons.items():
            warnings.warn(f"round {server.rounds_done}: client {k}'s upload is refused: {reason}", stacklevel=2)
        yield record(server, sent, good) | {"seconds": time.perf_counter() - started}


def participants(seed: int, round: int, clients: Sequence[int], participation: float) -> list[int]:
    """The clients of a round: a random part of all, at least one, in ascending order."""
    numbers = sorted(clients)
    if not 0 < participation <= 1:
        raise ValueError(f"participation={participation!r}: expected a fraction in (0, 1]")
    count = max(1, round_half_up(participation * len(numbers)))
    chosen = np.random.default_rng((seed, round, len(numbers))).choice(numbers, count, replace=False)
    return sorted(int(number) for number in chosen)


def round_half_up(value: float) -> int:
    """0.5 counts as 1."""
    return int(np.floor(value + 0.5))


def record(server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
    """What a round was: for the history."""
    rows = [float(upload.n_rows) for upload in uploads.values()]
    heard = [float(upload.log_evidence) for upload in uploads.values()]
    return {
        "round": server.rounds_done,
        "clients": sorted(uploads),
        "left_out": sorted(sent.keys() - uploads.keys()),
        "bytes_down": sum(map(n_bytes, sent.values())),
        "bytes_up": sum(map(n_bytes, uploads.values())),
        "active_units": [int(mask.sum()) for mask in active_units(server.state)],
        "noise_var": np.asarray(server.state.noise_var).tolist(),
        "log_evidence": float(np.average(heard, weights=rows)),
    }


def _train(clients: Sequence[Client], sent: Mapping[int, Broadcast], together: bool) -> dict[int, Upload]:
    if together and can_train_together(clients):
        found = train_together(clients, sent[clients[0].number])
        return {client.number: upload for client, upload in zip(clients, found, strict=True)}
    return {client.number: client.train(sent[client.number]) for client in clients}
