"""private: bounded influence, the right noise, an honest account, and a federation that still learns."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from helpers.little_federation import TASKS, federation, problem, terms, uploads_of
from tdamp.engine.mstep import NOISE_RANGE
from tdamp.engine.state import is_finite
from tdamp.federated.client import train_together
from tdamp.federated.preparation import fitted_of
from tdamp.federated.privacy import secure_sum
from tdamp.federated.privacy.central import (
    Privacy,
    absorb,
    clipped,
    drawn,
    epsilon,
    moves_of,
    noisy_move,
    private_sums,
    size_of,
)
from tdamp.federated.rounds import PrivateRounds, run_rounds
from tdamp.federated.server import Server
from tdamp.federated.validate import problem_of_upload
from tdamp.prediction import batched
from tdamp.training.outcome import TrainingWarning

QUIET = 1e-15
"""A noise multiplier that only rounding can see."""


def sum_of(moves: list[np.ndarray], privacy: Privacy) -> np.ndarray:
    """Always with the same noise."""
    return private_sums(privacy, moves, len(moves[0]), np.random.default_rng(0))


@given(
    moves=st.lists(arrays(np.float64, 4, elements=st.floats(width=64)), min_size=2, max_size=6),
    clip=st.floats(1e-3, 1e3),
)
def test_one_client_moves_the_sum_by_the_clip(moves: list[np.ndarray], clip: float) -> None:
    """identity: whatever a client sends, without it the sum is at most clip away, with another in its place 2 clip."""
    privacy = Privacy(clip, 1.0)
    whole, without, other = (sum_of(m, privacy) for m in (moves, moves[1:], [moves[1], *moves[1:]]))
    room = clip * (1 + 1e-9)
    assert np.linalg.norm(whole - without) <= room and np.linalg.norm(whole - other) <= 2 * room
    small = np.full(4, clip / 2.5)
    np.testing.assert_array_equal(clipped(small, clip), small)


def test_noise_of_the_sum() -> None:
    """calibration: standard deviation noise_multiplier times clip, from the server or from the clients together."""
    privacy, n, honest = Privacy(3.0, 0.7), 20_000, 5
    rng = np.random.default_rng(1)
    central = private_sums(privacy, [np.zeros(n)] * 8, n, rng)
    spread = sum(noisy_move(privacy, np.zeros(n), honest, rng) for _ in range(honest))
    for noise in (central, spread):
        assert abs(noise.std() / 2.1 - 1) < 5 / np.sqrt(2 * n)  # five standard errors
        assert abs(noise.mean()) < 5 * 2.1 / np.sqrt(n)


def exact_delta(eps: float, std: float) -> float:
    """Of the Gaussian mechanism with sensitivity one. Balle and Wang, 2018, theorem 8."""
    return float(norm.cdf(0.5 / std - eps * std) - np.exp(eps) * norm.cdf(-0.5 / std - eps * std))


@pytest.mark.parametrize("rounds", [1, 10, 200])
@pytest.mark.parametrize("noise", [0.8, 3.0])
def test_epsilon_of_all_clients(rounds: int, noise: float) -> None:
    """identity: never below the exact epsilon of `rounds` Gaussian mechanisms, never above the bound by zCDP."""
    delta, std = 1e-5, noise / np.sqrt(rounds)
    exact = brentq(lambda eps: np.log(max(exact_delta(eps, std), 1e-300) / delta), 1e-6, 18 / std + 1 / std**2)
    zcdp = 0.5 / std**2 + np.sqrt(2 * np.log(1 / delta)) / std
    assert exact <= epsilon(rounds, 1.0, noise, delta) <= zcdp


@pytest.mark.parametrize("participation", [0.05, 0.3])
def test_epsilon_of_drawn_clients(participation: float) -> None:
    """quadrature: of what a round tells of one client, in both directions; at this epsilon, delta is not exceeded."""
    std, delta = 1.2, 1e-5
    eps = epsilon(1, participation, std, delta)

    def without(t: float) -> float:
        return float(norm.pdf(t, 0, std))

    def with_it(t: float) -> float:
        return float((1 - participation) * norm.pdf(t, 0, std) + participation * norm.pdf(t, 1, std))

    for p, q in ((with_it, without), (without, with_it)):
        lost = quad(lambda t, p=p, q=q: max(p(t) - np.exp(eps) * q(t), 0.0), -12, 12, limit=400)[0]
        assert lost <= delta
    assert eps < epsilon(1, 1.0, std, delta)


def test_epsilon_grows() -> None:
    """contract: with rounds and with participation, and it falls with the noise; nothing done is nothing told."""
    assert epsilon(0, 0.5, 1.0, 1e-5) == 0
    for grows in (
        [epsilon(rounds, 0.2, 1.0, 1e-5) for rounds in (1, 2, 10, 50)],
        [epsilon(10, q, 1.0, 1e-5) for q in (0.01, 0.1, 0.5, 1.0)],
        [epsilon(10, 0.2, noise, 1e-5) for noise in (8.0, 2.0, 1.0, 0.5)],
    ):
        assert np.all(np.diff(grows) > 0)


def test_one_client_s_posterior_comes_back() -> None:
    """twin: `Server.aggregate` of one upload, if nothing is cut and the noise is far below rounding."""
    agreed = terms("regression")
    x, y = problem("regression", 64)
    (private, clients), (plain, _) = (federation(agreed, x, y, [np.arange(64)]) for _ in range(2))
    for _ in range(2):
        uploads = uploads_of(private, clients)
        move = moves_of(agreed, private.broadcast(0), uploads[0])
        absorb(private, private_sums(Privacy(1e6, QUIET), [move], move.size, np.random.default_rng(0)), 1)
        plain.aggregate(uploads)
        for one, other in zip(jax.tree.leaves(private.state), jax.tree.leaves(plain.state), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)


def test_any_sum_is_a_posterior() -> None:
    """contract: after noise alone (nobody was drawn) all is finite and variances are positive."""
    agreed = terms("classification")
    server, _ = federation(agreed, *problem("classification", 40), [np.arange(40)])
    for seed in range(5):
        total = private_sums(Privacy(5.0, 1.0), [], size_of(server.state), np.random.default_rng(seed))
        absorb(server, total, 2)
        variances = [np.asarray(part.var) for layer in server.state.layers for part in (layer.weight, layer.bias)]
        assert is_finite(server.state) and all((var > 0).all() for var in variances)


@pytest.mark.parametrize("task", TASKS)
def test_strong_noise_refuses_nobody(task: str) -> None:
    """contract: honest clients count in every round, wherever noise has put the posterior that they begin from.

    The door of an open federation would refuse them: no rows could have told so much. The noise variance stays within
    the bounds of all trainings.
    """
    refused_openly = 0
    for seed in range(4):
        server, clients = federation(terms(task), *problem(task, 60), np.split(np.arange(60), 3))
        policy = PrivateRounds(Privacy(4.0, 6.0), rng=np.random.default_rng(seed))
        for _ in range(3):
            sent, uploads = server.broadcast(0), uploads_of(server, clients)
            assert [policy.problem_of_upload(server, upload) for upload in uploads.values()] == [None] * 3
            refused_openly += sum(problem_of_upload(server, upload) is not None for upload in uploads.values())
            policy.end_round(server, dict.fromkeys(uploads, sent), uploads)
            ratio = np.asarray(server.state.noise_var) / server.state.noise_scale
            assert np.all((ratio >= 0.999 * NOISE_RANGE[0]) & (ratio <= 1.001 * NOISE_RANGE[1]))
    assert refused_openly > 0
    again = federation(terms(task), *problem(task, 60), np.split(np.arange(60), 3))
    assert len(list(run_rounds(*again, PrivateRounds(Privacy(4.0, 6.0), rng=np.random.default_rng(0))))) == 3


def test_what_cannot_be_clipped_is_refused() -> None:
    """contract: a private round's door lets pass no NaN and no variance of zero."""
    server, clients = federation(terms("regression"), *problem("regression", 40), [np.arange(40)])
    upload = clients[0].train(server.broadcast(0))
    policy = PrivateRounds(Privacy(4.0, 1.0))
    assert policy.problem_of_upload(server, upload) is None
    assert "NaN" in (
        policy.problem_of_upload(server, upload._replace(noise_var=upload.noise_var * np.float32(np.nan))) or ""
    )
    first = upload.posterior[0]
    certain = first._replace(weight=first.weight._replace(var=0 * first.weight.var))
    assert "not positive" in (
        policy.problem_of_upload(server, upload._replace(posterior=(certain, *upload.posterior[1:]))) or ""
    )


def test_private_pruning_is_warned_of_once() -> None:
    """contract: clients' losses stay with them, units go by evidence, and the first round says so."""
    agreed = terms("regression", keep=0.5, ranking="loss", prune_start=0.3, prune_end=0.6)
    server, clients = federation(agreed, *problem("regression", 60), np.split(np.arange(60), 3))
    with pytest.warns(TrainingWarning, match="by the posterior's evidence") as caught:
        rounds = len(list(run_rounds(server, clients, PrivateRounds(Privacy(4.0, 0.1), rng=np.random.default_rng(0)))))
    assert rounds == 3 and len(caught) == 1
    assert sum(map(len, server.kept)) < sum(agreed.network.widths)


def test_a_sum_under_masks() -> None:
    """twin: clients' noisy moves as fixed-point numbers have the plain sum, to half a quantum a client."""
    rng = np.random.default_rng(0)
    moves = [noisy_move(Privacy(2.0, 1.0), rng.normal(size=50), 3, rng) for _ in range(3)]
    total = secure_sum.decoded(secure_sum.added([secure_sum.encoded({"moves": move}, 3) for move in moves]))["moves"]
    np.testing.assert_allclose(total, np.sum(moves, 0), rtol=0, atol=1.51 * secure_sum.QUANTUM)


def test_drawn_clients() -> None:
    """calibration: each client's frequency is the participation, to five standard errors; the limits are refused."""
    rng = np.random.default_rng(0)
    counts = sum(np.isin(range(10), drawn(rng, range(10), 0.3)) for _ in range(2000))
    assert np.abs(counts / 2000 - 0.3).max() < 5 * np.sqrt(0.3 * 0.7 / 2000)
    with pytest.raises(ValueError, match="participation"):
        drawn(rng, range(10), 0.0)


@pytest.mark.parametrize("wrong", [{"clip": 0.0}, {"noise_multiplier": 0.0}, {"delta": 1.0}, {"clip": np.nan}])
def test_promises_of_nothing(wrong: dict[str, float]) -> None:
    """contract: numbers without a guarantee are refused; so are terms under which clients tell more."""
    with pytest.raises(ValueError, match="expected positive"):
        Privacy(**({"clip": 1.0, "noise_multiplier": 1.0} | wrong))
    agreed: Any = terms("regression", noise="server")
    with pytest.raises(ValueError, match="statistics"):
        moves_of(agreed, None, None)  # type: ignore[arg-type]


CLIENTS, ROWS = 24, 20


def error_after(noise_multiplier: float, rounds: int = 8) -> float:
    """RMSE on new rows."""
    agreed = terms("regression", rounds)
    x, y = problem("regression", CLIENTS * ROWS + 300)
    train = CLIENTS * ROWS
    server, clients = federation(agreed, x[:train], y[:train], np.split(np.arange(train), CLIENTS))
    privacy, rng = Privacy(4.0, noise_multiplier), np.random.default_rng(0)
    for _ in range(rounds):
        sent = server.broadcast(0)
        moves = [moves_of(agreed, sent, upload) for upload in train_together(clients, sent)]
        absorb(server, private_sums(privacy, moves, size_of(server.state), rng), CLIENTS)
    return rmse(server, x[train:], y[train:])


def rmse(server: Server, x: np.ndarray, y: np.ndarray) -> float:
    """Of the predicted means."""
    return float(np.sqrt(np.mean(np.square(batched.moments(fitted_of(server, []), x).mean - y))))


def test_a_private_federation_learns() -> None:
    """calibration: y has standard deviation 1; mild noise leaves most of what is learned, strong noise ruins it."""
    quiet, mild, strong = (error_after(noise) for noise in (QUIET, 0.5, 20.0))
    assert quiet < 0.5 and mild < 0.6 < 1 < strong
