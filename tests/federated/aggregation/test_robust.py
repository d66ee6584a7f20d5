"""robust: hostile clients among honest ones lose their share, honest ones keep it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.little_federation import TASKS, federation, problem, terms, uploads_of
from tdamp.engine.turbo import Layer
from tdamp.federated.aggregation.robust import LEAST_CLIENTS, distances, trust
from tdamp.federated.messages import Upload
from tdamp.federated.splits import split
from tdamp.numerics.beliefs import Moments

CLIENTS = 8


class Round(NamedTuple):
    """What a server has when a round's uploads are in."""

    layers: tuple[Layer, ...]
    uploads: dict[int, Upload]


def rounds_of(task: str, name: str, seed: int) -> list[Round]:
    """Three rounds of eight honest clients."""
    x, y = problem(task, 40 * CLIENTS, seed)
    parts = [part[:64] for part in split(name, x, y, CLIENTS, seed)]
    server, clients = federation(terms(task, rounds=3, local_epochs=5, seed=seed), x, y, parts)
    results = []
    for _ in range(3):
        results.append(Round(server.state.layers, uploads_of(server, clients)))
        server.aggregate(results[-1].uploads)
    return results


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    """Both kinds of network."""
    return request.param


@pytest.fixture(scope="module")
def iid(task: str) -> list[Round]:
    """Nine rounds of clients that are alike."""
    return [round for seed in range(3) for round in rounds_of(task, "iid", seed)]


@pytest.fixture(scope="module")
def skewed(task: str) -> list[Round]:
    """Nine rounds of clients with somewhat different labels."""
    return [round for seed in range(3) for round in rounds_of(task, "dirichlet:0.5", seed)]


def changed(upload: Upload, change: Callable[[Moments], Moments]) -> Upload:
    """The upload with this done to all its slabs."""
    layers = [b._replace(weight=change(b.weight), bias=change(b.bias)) for b in upload.posterior]
    return upload._replace(posterior=tuple(layers))


def random_like(belief: Any) -> Moments:
    """Random means of twice the size."""
    size = np.sqrt(np.square(belief.mean).mean())
    means = np.random.default_rng(belief.mean.size).normal(scale=2 * size, size=belief.mean.shape)
    return Moments(means.astype(np.float32), belief.var)  # type: ignore[arg-type]


ATTACKS: dict[str, Callable[[Moments], Moments]] = {
    "sign": lambda belief: Moments(-belief.mean, belief.var),
    "tenfold": lambda belief: Moments(10 * belief.mean, belief.var),
    "random": random_like,
    "overconfident": lambda belief: Moments(belief.mean, 1e-4 * belief.var),
}


def test_honest_clients_keep_their_share(iid: list[Round], skewed: list[Round]) -> None:
    """calibration: of 144 honest uploads, iid or mildly skewed, none loses anything."""
    for layers, uploads in iid + skewed:
        assert set(trust(layers, uploads).values()) == {1.0}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("hostile", [[3], [0, 6]], ids=["one", "two"])
def test_hostile_clients_lose_theirs(iid: list[Round], attack: str, hostile: list[int]) -> None:
    """calibration: one or two of eight, in every round: their trust is 0, everyone else's 1."""
    for layers, uploads in iid:
        sent = {k: changed(upload, ATTACKS[attack]) if k in hostile else upload for k, upload in uploads.items()}
        assert trust(layers, sent) == {k: float(k not in hostile) for k in sent}


def test_the_clients_order_and_names_are_nothing(iid: list[Round]) -> None:
    """identity: renumbering and reordering clients renumbers their trust, bit for bit."""
    layers, uploads = iid[-1]
    uploads = {k: changed(u, ATTACKS["sign"]) if k == 2 else u for k, u in uploads.items()}
    order = np.random.default_rng(0).permutation(CLIENTS).tolist()
    renamed = {int(order[k]): uploads[k] for k in reversed(range(CLIENTS))}
    assert {order.index(k): value for k, value in trust(layers, renamed).items()} == trust(layers, uploads)


def test_no_majority_no_verdict(iid: list[Round]) -> None:
    """contract: with fewer than four clients all are trusted, whatever they say; with four an outlier is seen."""
    layers, uploads = iid[-1]
    for count in range(1, LEAST_CLIENTS + 1):
        some = {k: changed(uploads[k], ATTACKS["tenfold"]) if k == 0 else uploads[k] for k in range(count)}
        assert trust(layers, some) == {k: float(count < LEAST_CLIENTS or k > 0) for k in some}


def test_trust_falls_step_by_step(iid: list[Round]) -> None:
    """contract: as one client's means move away, its trust falls from 1 to 0 through values in between."""
    layers, uploads = iid[-1]
    results = []
    for size in np.geomspace(0.1, 10, 60):
        away = changed(uploads[5], lambda b, size=size: Moments(b.mean + size * np.sqrt(b.var), b.var))  # type: ignore[misc]
        results.append(trust(layers, {**uploads, 5: away})[5])
    assert results[0] == 1 and results[-1] == 0 and any(0 < value < 1 for value in results)
    assert all(a >= b - 1e-12 for a, b in pairwise(results))


def test_twins_are_trusted(iid: list[Round]) -> None:
    """identity: clients that say the same have no distance, and one that differs by rounding is no outlier."""
    layers, uploads = iid[0]
    twins = dict.fromkeys(range(6), uploads[0])
    np.testing.assert_array_equal(distances(layers, list(twins.values())), 0)
    nearly = changed(uploads[0], lambda b: Moments(b.mean * np.float32(1 + 1e-6), b.var))
    assert set(trust(layers, {**twins, 6: nearly}).values()) == {1.0}


def test_biases_are_compared_in_one_centre(iid: list[Round]) -> None:
    """identity: a client that writes the same function with another centre is where it was."""
    layers, uploads = iid[-1]
    move = np.array([50.0, -50.0, 20.0, 0.0, 10.0, -10.0])
    first, last = uploads[4].posterior
    bias = Moments(last.bias.mean + move @ last.weight.mean.astype(np.float64), last.bias.var)
    other = uploads[4]._replace(posterior=(first, last._replace(centre=last.centre + move, bias=bias)))
    plain, written = (distances(layers, list({**uploads, 4: u}.values())) for u in (uploads[4], other))
    np.testing.assert_allclose(plain, written, rtol=1e-4)
