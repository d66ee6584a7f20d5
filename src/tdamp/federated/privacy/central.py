"""Differential privacy of clients: bounded moves, Gaussian noise on their sum, and an account of it.

A client's move is how far its posterior lies from the broadcast: for every weight and bias the move of the mean in
standard deviations of the broadcast, and log(var / broadcast's var) / sqrt(2); then the moves of the hidden centres and
of log(noise) / sqrt(2). Of a Gaussian, the squared norm is the Fisher metric: twice the KL divergence for small moves.
The whole move is shortened to norm `clip`, all clients count alike, and noise of standard deviation noise_multiplier
times clip is added to the sum; any result is a posterior, with positive variances.

Not the weighted geometric average: means are averaged plainly and variances geometrically. Both agree where clients are
equally sure and have equally many rows.
Neighbouring federations differ in one client, whose move is zero in one of them: a sum moves by at most `clip`.
Not guaranteed: privacy of what is sent outside the sum (rows, means, spreads and classes before the first round), and
of noise from a generator whose seed someone knows; NumPy's generators are not made for cryptography.
Oracle: the exact Gaussian mechanism, Balle and Wang, 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._optional import need
from ...engine.mstep import NOISE_RANGE
from ...engine.state import State
from ..aggregation.base import on_host
from ..aggregation.step import recentred
from ..messages import Broadcast, Upload
from ..server import Server
from ..terms import Terms
from .secure_sum import check as check_sums

ROOT2 = math.sqrt(2.0)
WHOLE_ORDERS = [*range(2, 65), 80, 100, 128, 160, 200, 256, 512, 1024]
"""Orders of Renyi divergences for drawn clients: at others the package's series may not converge, and it warns."""


@dataclass(frozen=True)
class Privacy:
    """What a client may add to a round's sum at most, and the noise in units of it; `delta` is for the account."""

    clip: float
    noise_multiplier: float
    delta: float = 1e-5

    def __post_init__(self) -> None:
        """Raise ValueError for numbers that promise nothing."""
        if not (0 < self.clip < math.inf and 0 < self.noise_multiplier < math.inf and 0 < self.delta < 1):
            raise ValueError(
                f"clip={self.clip}, noise_multiplier={self.noise_multiplier}, delta={self.delta}: "
                "expected positive numbers, delta below 1 (and below one over the number of clients)"
            )

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise on a round's sum."""
        return self.clip * self.noise_multiplier


def moves_of(terms: Terms, broadcast: Broadcast, upload: Upload) -> np.ndarray:
    """How far a client has gone, as one vector. It stays with the client: only what is clipped is safe to add."""
    check(terms)
    moves: list[Any] = []
    for l, (belief, layer) in enumerate(zip(upload.posterior, broadcast.state.layers, strict=True)):
        home = recentred(belief, layer.centre)
        for part in ("weight", "bias"):
            old, new = (on_host(*getattr(holder, part)) for holder in (layer, home))
            moves += [(new.mean - old.mean) / np.sqrt(old.var), np.log(new.var / old.var) / ROOT2]
        if l:  # the first centre is that of the inputs, which stays
            moves.append(np.asarray(belief.centre, np.float64) - layer.centre)
    moves.append(np.log(np.asarray(upload.noise_var, np.float64) / broadcast.state.noise_var) / ROOT2)
    return np.concatenate([array.ravel() for array in moves])


def clipped(moves: np.ndarray, clip: float) -> np.ndarray:
    """The move shortened to norm `clip`, if it is longer; one that is not finite counts as none."""
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(moves))
    if not math.isfinite(norm):
        return np.zeros_like(moves)
    return moves * (clip / norm) if norm > clip else moves


def private_sums(privacy: Privacy, moves: Sequence[np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
    """The sum of the clients' moves, with noise: all that the server may keep of a round. It may have no clients."""
    total = np.zeros(size)
    for move in moves:
        total += clipped(move, privacy.clip)
    return total + rng.normal(0.0, privacy.noise_std, size)


def noisy_move(privacy: Privacy, move: np.ndarray, honest: int, rng: np.random.Generator) -> np.ndarray:
    """A client's clipped move with its part of the noise, for a sum under masks.

    The sum has the whole noise if at least `honest` clients of the round add theirs and keep it to themselves.
    """
    if honest < 1:
        raise ValueError(f"honest={honest}: expected the least number of clients whose noise can be relied on")
    return clipped(move, privacy.clip) + rng.normal(0.0, privacy.noise_std / math.sqrt(honest), move.shape)


def absorb(server: Server, total: np.ndarray, expected: float) -> None:
    """The round's end from a sum of moves; `expected` clients, whose number is public, are counted in every round.

    The true number would be a secret: with clients drawn at random, `expected` is participation times all clients.
    """
    check(server.terms)
    state = server.state
    moves = iter(np.split(total / expected, np.cumsum([math.prod(shape) for shape in shapes(state)])[:-1]))
    average, centres = [], []
    for l, layer in enumerate(state.layers):
        parts = {}
        for part in ("weight", "bias"):
            mean, var = on_host(*getattr(layer, part))
            step, change = (next(moves).reshape(mean.shape) for _ in range(2))
            parts[part] = on_host(mean + np.sqrt(var) * step, var * np.exp(ROOT2 * change))
        average.append(layer._replace(**parts))
        centres.append(layer.centre + next(moves) if l else layer.centre)
    noise: Any = np.asarray(state.noise_var, np.float64)
    noise = noise * np.exp(ROOT2 * next(moves).reshape(noise.shape))
    low, high = (bound * np.asarray(state.noise_scale, np.float64) for bound in NOISE_RANGE)
    server.end_round(server.take_step(average), centres, np.clip(noise, low, high))


def shapes(state: State) -> list[tuple[int, ...]]:
    """Shapes of the parts of a move, one after another."""
    parts = []
    for l, layer in enumerate(state.layers):
        weight, bias, centre = (np.shape(array) for array in (layer.weight.mean, layer.bias.mean, layer.centre))
        parts += [weight, weight, bias, bias, *([centre] if l else [])]
    return [*parts, np.shape(state.noise_var)]


def size_of(state: State) -> int:
    """How many numbers a move has."""
    return sum(math.prod(shape) for shape in shapes(state))


def drawn(rng: np.random.Generator, clients: Iterable[int], participation: float) -> list[int]:
    """A round's clients: each one with probability `participation`, perhaps none. No client may know the seed."""
    if not 0 < participation <= 1:
        raise ValueError(f"participation={participation!r}: expected a probability in (0, 1]")
    return [client for client in sorted(clients) if rng.random() < participation]


def epsilon(rounds: int, participation: float, noise_multiplier: float, delta: float) -> float:
    """The epsilon of (epsilon, delta)-privacy of a client after so many rounds, by Renyi divergences: an upper bound.

    With participation < 1 it holds for clients drawn by `drawn`, against those who do not know who was drawn; against
    the server, and wherever draws are public, take participation = 1.
    """
    with_all = _epsilon(rounds, 1.0, noise_multiplier, delta, None)
    if participation == 1:
        return with_all
    # a draw reveals no more than everyone would; orders below 2 are missing where much is revealed
    return min(with_all, _epsilon(rounds, participation, noise_multiplier, delta, WHOLE_ORDERS))


def _epsilon(rounds: int, participation: float, noise_multiplier: float, delta: float, orders: Any) -> float:
    accounting, rdp = need("dp_accounting", "privacy"), need("dp_accounting.rdp", "privacy")
    event = accounting.PoissonSampledDpEvent(participation, accounting.GaussianDpEvent(noise_multiplier))
    account = rdp.RdpAccountant(orders, accounting.NeighboringRelation.REPLACE_SPECIAL)
    return float(account.compose(event, rounds).get_epsilon(delta)) if rounds else 0.0


def check(terms: Terms) -> None:
    """Raise ValueError for terms under which a client sends more than its move."""
    check_sums(terms)
    if terms.settings.pasp == "paper":
        raise ValueError('pasp="paper" has moves as large as the local epochs are many: privacy needs pasp="anchored"')
    if not terms.noise_at_clients:
        raise ValueError('noise="server" asks for statistics of the rows: a private federation needs noise="clients"')
