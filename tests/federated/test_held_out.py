"""Rows held out choose the round: who holds which, what is chosen, and that a noisy table is the better for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.little_federation import federation, problem, terms, uploads_of
from tdamp import TDAMPRegressor
from tdamp.federated import checkpoint, federated_fit
from tdamp.federated.calibration import POINTS
from tdamp.federated.client import posterior_of
from tdamp.federated.messages import named
from tdamp.federated.server import Server
from tdamp.federated.validate import problem_of_upload
from tdamp.prediction import batched
from tdamp.training.calibration import calibration_at

PARTS = np.split(np.arange(120), 3)


def held(task: str = "regression", **changes: Any) -> tuple[Server, list[Any]]:
    """Three clients that hold about a quarter of 40 rows out."""
    return federation(terms(task, 4, 1, hold_out=0.25, **changes), *problem(task, 120), PARTS)


def rows_of(clients: Sequence[Any], part: str) -> set[bytes]:
    """Inputs of the rows that any of the clients trains on (`data`) or judges by (`held`)."""
    return {row.tobytes() for client in clients for row in getattr(getattr(client, part), "x", ())}


def test_no_row_is_both() -> None:
    """contract: rows to train on and rows held out are a client's rows, each once."""
    _, clients = held()
    x = problem("regression", 120)[0]
    for client, part in zip(clients, PARTS, strict=True):
        both = np.concatenate([client.data.x, client.held.x])
        np.testing.assert_array_equal(both[np.lexsort(both.T)], x[part][np.lexsort(x[part].T)])


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_copies_are_on_one_side(task: str) -> None:
    """contract: of 300 rows that four clients share, each having 200, none trains on one that any judges by."""
    x, y = problem(task, 300)
    rng = np.random.default_rng(0)
    parts = [rng.permutation(300)[:200] for _ in range(4)]
    if task == "classification":  # clients that know different classes give theirs the same names all the same
        parts[0] = parts[0][y[parts[0]] > 0]
    _, clients = federation(terms(task, hold_out=0.25), np.tile(x, (2, 1)), np.concatenate([y] * 2), [
        np.concatenate([part, 300 + part[:50]]) for part in parts
    ])  # fmt: skip
    assert len(rows_of(clients, "held")) > 40 and not rows_of(clients, "held") & rows_of(clients, "data")


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_small_clients_hold_out_their_part(share: float) -> None:
    """rate: of 600 rows in threes, the share asked for within three standard errors of so many draws; but a client
    whose rows would all be held out trains on one."""
    x, y = problem("regression", 600)
    _, clients = federation(terms("regression", hold_out=share), x, y, np.split(np.arange(600), 200))
    expected = share * (1 - share**2)  # a third of the rows of such a client are trained on all the same
    assert abs(len(rows_of(clients, "held")) / 600 - expected) < 3 * np.sqrt(share * (1 - share) / 600)
    assert min(len(client.data.x) for client in clients) == 1


def test_every_class_is_trained_on() -> None:
    """contract: however much is held out, a client trains on a row of each class that it has."""
    x, y = problem("classification", 60)
    _, clients = federation(terms("classification", hold_out=0.9), x, y, np.split(np.arange(60), 10))
    for client, part in zip(clients, np.split(np.arange(60), 10), strict=True):
        assert set(client.data.y) == set(y[part]) and client.held is not None


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_score_is_that_of_the_posterior_sent(task: str) -> None:
    """identity: sums and number of log scores, under every calibration of a regression; none before the first round;
    uploads pass the server's door."""
    server, clients = held(task)
    for _ in range(2):
        uploads = uploads_of(server, clients)
        assert not [reason for upload in uploads.values() if (reason := problem_of_upload(server, upload))]
        for client in clients:
            sent = posterior_of(server.terms, server.broadcast(client.number))
            judged = uploads[client.number].judged
            assert judged[-1] == (len(client.held.x) if server.rounds_done else 0)
            if not server.rounds_done:
                assert not judged.any()
            elif task == "classification":
                np.testing.assert_allclose(judged[:-1], [batched.log_scores(sent, *client.held[:2]).sum()], rtol=1e-5)
            else:
                point = len(POINTS) // 2
                wide = batched.predicted(sent, client.held.x).stretched(calibration_at([POINTS[point]] * 2))
                sums = judged[:-1].reshape(2, -1)[:, point]
                np.testing.assert_allclose(sums, wide.log_density(client.held.y).sum(0), rtol=1e-5)
        server.aggregate(uploads)
    upload = uploads_of(server, clients)[0]
    for place, value in ((-1, 1e9), (-1, -1.0), (0, 1e6), (0, -1e6)):
        wrong = upload.judged.copy()
        wrong[place] = value
        assert "judged" in str(problem_of_upload(server, upload._replace(judged=wrong)))


def test_more_rows_held_out_than_trained_on_may_pass() -> None:
    """contract: an honest upload of clients that hold most of their rows out is not refused."""
    server, clients = federation(terms("regression", 2, 1, hold_out=0.75), *problem("regression", 120), PARTS)
    server.aggregate(uploads_of(server, clients))
    uploads = uploads_of(server, clients)
    assert all(upload.judged[-1] > float(upload.n_rows) for upload in uploads.values())
    assert not any(problem_of_upload(server, upload) for upload in uploads.values())


def made_up(server: Server, score: float) -> np.ndarray:
    """Ten rows that score as much, however wide the prediction; none for a score of zero."""
    targets = server.terms.network.n_targets
    return np.append(np.full(targets * len(POINTS), 10.0 * score / targets), 10.0 * bool(score))


@pytest.mark.parametrize(
    ("scores", "chosen"), [((-1, -2, -3), 1), ((-3, -1, -2), 2), ((-3, -2, -1), 4), ((-1, -1, -1), 1)]
)
def test_the_best_round_is_kept(scores: Sequence[float], chosen: int) -> None:
    """contract: made-up scores of rounds 1 to 3; the last is unknown, and taken if the one before was best."""
    server, clients = held()
    states = []
    for score in (0, *scores):
        uploads = uploads_of(server, clients[:1])
        server.aggregate({0: uploads[0]._replace(judged=made_up(server, score))})
        states.append(server.state)
    server.restore_best()
    assert server.posterior_round == chosen and server.state is states[chosen - 1]


def test_a_network_that_is_still_to_shrink_is_not_chosen() -> None:
    """contract: half of the units go by the second of four rounds; the first scores best, and is not taken."""
    server, clients = held(keep=0.5, prune_start=0.0, prune_end=0.5)
    for score in (0, -1, -3, -2):
        uploads = uploads_of(server, clients[:1])
        server.aggregate({0: uploads[0]._replace(judged=made_up(server, score))})
    assert server.best is not None and server.best.at == 3


def test_the_best_goes_through_a_checkpoint(tmp_path: Path) -> None:
    """identity: bit for bit, with the units it has."""
    server, clients = held()
    for _ in range(3):
        server.aggregate(uploads_of(server, clients))
    estimator = TDAMPRegressor((6,))
    checkpoint.save(tmp_path / "c", {}, estimator, server, [])
    result = checkpoint.load(tmp_path / "c", {}, estimator)
    assert result is not None and result[0].best is not None and server.best is not None
    assert result[0].best[:2] == server.best[:2]
    for name, array in named(server.best.state).items():
        np.testing.assert_array_equal(named(result[0].best.state)[name], array)
    for kept, before in zip(result[0].best.kept, server.best.kept, strict=True):
        np.testing.assert_array_equal(kept, before)


def test_a_noisy_table() -> None:
    """calibration: little signal in much noise; to stop in time is worth more than the rows that it costs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = X[:, 0] + 2 * rng.normal(size=400)
    clients = [(X[k:150:3], y[k:150:3]) for k in range(3)]
    result, ends = {}, {}
    for stops in (True, False):
        model = TDAMPRegressor((6,), early_stopping=stops, batch_size=16, sweeps=1, random_state=0)
        fit = federated_fit(model, clients, rounds=10, local_epochs=5)
        result[stops], ends[stops] = fit.estimator.score(X[150:], y[150:]), fit.estimator.fitted_.epoch
        assert ("log_score" in fit.history) == stops
    assert ends[True] < ends[False] == 10 and result[True] > result[False]
