"""How a round begins and ends: with all that its clients send, or with a noisy sum that keeps every client private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..training.fitted import active_units
from . import validate
from .messages import Broadcast, Upload, n_bytes
from .privacy import central
from .privacy.central import Privacy
from .server import Server

Record = dict[str, Any]


class Ending(Protocol):
    """What a federation does with a round's clients and their uploads."""

    def drawn(self, server: Server, clients: Sequence[int]) -> list[int]:
        """The clients of the next round, ascending."""

    def least(self, asked: int, drawn: int) -> int:
        """Uploads without which a round does not count, if `asked` are asked for and `drawn` clients take part."""

    def refused(self, server: Server, upload: Upload) -> str | None:
        """None for an upload that may count, or a sentence that says what is wrong with it."""

    def end(self, server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
        """The server's next posterior; gives what the round was, for the history."""


class Open:
    """The server keeps uploads as they are; `participation` is the part of the clients that a round has."""

    def __init__(self, participation: float = 1.0) -> None:
        self.participation = _fraction(participation)

    def drawn(self, server: Server, clients: Sequence[int]) -> list[int]:
        """By the terms' seed."""
        return participants(server.terms.seed, server.rounds_done, clients, self.participation)

    def least(self, asked: int, drawn: int) -> int:
        """As asked for."""
        return asked

    def refused(self, server: Server, upload: Upload) -> str | None:
        """What no honest training sends."""
        return validate.refused(server, upload)

    def end(self, server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
        """By `Server.aggregate`."""
        server.aggregate(uploads)
        rows = [float(upload.n_rows) for upload in uploads.values()]
        heard = [float(upload.log_evidence) for upload in uploads.values()]
        return {
            "round": server.rounds_done,
            "clients": sorted(uploads),
            "left_out": sorted(sent.keys() - uploads.keys()),
            "bytes_down": sum(map(n_bytes, sent.values())),
            "bytes_up": sum(map(n_bytes, uploads.values())),
            **_posterior(server),
            "cavity_floors": server.floors,
            "log_evidence": float(np.average(heard, weights=rows)),
            **({} if server.log_score is None else {"log_score": server.log_score}),
        }


class Private:
    """The server keeps the sum of the clients' clipped moves, with noise, and tells nothing else of a round.

    Noise and draws come from the system's entropy. The history has the epsilon so far; it has neither the clients of a
    round nor what they say of their rows, which would be told without noise.
    """

    def __init__(self, privacy: Privacy, participation: float = 1.0, rng: np.random.Generator | None = None) -> None:
        self.privacy, self.participation = privacy, _fraction(participation)
        self.rng = rng or np.random.default_rng()

    def drawn(self, server: Server, clients: Sequence[int]) -> list[int]:
        """Each client by a coin of its own; perhaps none."""
        central.check(server.terms)
        return central.drawn(self.rng, clients, self.participation)

    def least(self, asked: int, drawn: int) -> int:
        """No more than the coins gave."""
        return min(asked, drawn)

    def refused(self, server: Server, upload: Upload) -> str | None:
        """What cannot be clipped."""
        return validate.malformed(server, upload)

    def end(self, server: Server, sent: Mapping[int, Broadcast], uploads: Mapping[int, Upload]) -> Record:
        """By `private.absorb`."""
        moves = [central.moves_of(server.terms, sent[k], uploads[k]) for k in sorted(uploads)]
        total = central.private_sums(self.privacy, moves, central.size_of(server.state), self.rng)
        central.absorb(server, total, self.participation * len(server.rows))
        noise, delta = self.privacy.noise_multiplier, self.privacy.delta
        epsilon = central.epsilon(server.rounds_done, self.participation, noise, delta)
        return {"round": server.rounds_done, **_posterior(server), "epsilon": epsilon}


def participants(seed: int, round: int, clients: Sequence[int], participation: float) -> list[int]:
    """The clients of a round: a random part of all, at least one, in ascending order."""
    numbers = sorted(clients)
    count = max(1, int(np.floor(_fraction(participation) * len(numbers) + 0.5)))
    chosen = np.random.default_rng((seed, round, len(numbers))).choice(numbers, count, replace=False)
    return sorted(int(number) for number in chosen)


def ending_of(privacy: Privacy | None, participation: float) -> Ending:
    """Private if asked for."""
    return Open(participation) if privacy is None else Private(privacy, participation)


def _posterior(server: Server) -> Record:
    return {
        "active_units": [int(mask.sum()) for mask in active_units(server.state)],
        "noise_var": np.asarray(server.state.noise_var).tolist(),
    }


def _fraction(participation: float) -> float:
    if not 0 < participation <= 1:
        raise ValueError(f"participation={participation!r}: expected a fraction in (0, 1]")
    return participation
