"""Rounds of a federation: one client is a training on its own, order is nothing, sizes and absences are fine.

covers: federated.client, federated.schedule
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers.little_federation import NETWORKS, TASKS, federation, problem, terms, trained, uploads_of
from tdamp import fit
from tdamp.factors.priors.base import group_logit
from tdamp.federated.aggregation.base import on_host
from tdamp.federated.client import can_train_together
from tdamp.federated.messages import Belief
from tdamp.federated.preparation import fitted_of
from tdamp.federated.rounds import OpenRounds, Record, participants, run_rounds
from tdamp.federated.server import Diverged, Server
from tdamp.federated.validate import problem_of_upload
from tdamp.numerics import gumbel
from tdamp.prediction import batched

THREE = [np.arange(0, 60), np.arange(60, 120), np.arange(120, 180)]


def assert_same_bits(actual: Any, expected: Any) -> None:
    """Every array of both states."""
    for a, b in zip(jax.tree.leaves(actual), jax.tree.leaves(jax.device_get(expected)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def error_of(server: Server) -> float:
    """Of 200 new rows: mean squared error relative to the variance, or the share of wrong classes."""
    task = server.terms.network.task
    x, y = problem(task, 200, seed=99)
    mean = batched.moments(fitted_of(server, []), x).mean
    return (
        float(np.mean(mean.argmax(1) != y)) if task == "classification" else float(np.mean((mean - y) ** 2) / y.var())
    )


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("aggregation", ["wga", "waa"])
def test_one_client_is_a_training_on_its_own(task: str, aggregation: str) -> None:
    """twin: three rounds of two epochs equal tdamp.fit of six, bit for bit: slabs, noise, centres and all."""
    x, y = problem(task, 60)
    agreed = terms(task, seed=3, aggregation=aggregation)
    server = trained(*federation(agreed, x, y, [np.arange(60)]))
    alone = fit(NETWORKS[task], x, y, agreed.settings, seed=3)
    assert_same_bits(server.state, alone.state)
    assert float(np.abs(server.state.layers[1].centre).max()) > 0.01  # a centre that has moved


@pytest.mark.parametrize("task", TASKS)
def test_the_order_of_clients_is_nothing(task: str) -> None:
    """twin: clients listed, trained and aggregated in another order give the same bits."""
    x, y = problem(task, 180)
    straight = trained(*federation(terms(task), x, y, THREE))
    server, clients = federation(terms(task), x, y, THREE)
    server.rows = dict(reversed(server.rows.items()))
    for _ in range(3):
        server.aggregate(uploads_of(server, clients[::-1]))
    assert_same_bits(server.state, straight.state)


@pytest.mark.parametrize("parts", [THREE, [np.arange(60), np.arange(60, 107), np.arange(107, 180)[:40]]])
def test_together_is_in_turn(parts: list[np.ndarray]) -> None:
    """twin: clients trained as one vectorised program equal those trained one after another, but for rounding; with
    other numbers of rows, and of minibatches, too."""
    task = "classification"
    x, y = problem(task, 180)
    assert can_train_together(federation(terms(task), x, y, parts)[1])
    in_turn, together = (trained(*federation(terms(task), x, y, parts), together=flag) for flag in (False, True))
    for a, b in zip(jax.tree.leaves(together.state), jax.tree.leaves(in_turn.state), strict=True):
        np.testing.assert_allclose(a, b, rtol=5e-3, atol=5e-4)
    different = trained(*federation(terms(task, seed=1), x, y, parts))
    far = np.abs(different.state.layers[0].weight.mean - in_turn.state.layers[0].weight.mean).max()
    assert far > 0.05  # what the tolerance is to be compared with


@pytest.fixture(scope="module", params=["wga", "waa", "sites"])
def learned(request: pytest.FixtureRequest) -> dict[str, tuple[list[Record], Server]]:
    """Twelve rounds of three clients, by task."""
    results = {}
    for task in TASKS:
        x, y = problem(task, 180)
        agreed = terms(task, rounds=12, local_epochs=4, aggregation=request.param, data_weight=(1.0, 2.0, 3.0, 4.0))
        server, clients = federation(agreed, x, y, THREE)
        results[task] = list(run_rounds(server, clients)), server
    return results


@pytest.mark.parametrize("task", TASKS)
def test_every_aggregation_learns(learned: dict[str, tuple[list[Record], Server]], task: str) -> None:
    """calibration: the evidence of the clients' rows rises, and errors on new rows are far below guessing's."""
    records, server = learned[task]
    assert records[-1]["log_evidence"] > records[0]["log_evidence"] + 0.2
    assert error_of(server) < 0.25  # guessing: 1, or two thirds
    assert [record["round"] for record in records] == list(range(1, 13))


def test_clients_of_three_and_three_hundred_rows() -> None:
    """calibration: both take part, the larger one decides: the result is near that of its rows alone."""
    x, y = problem("regression", 303)
    parts = [np.arange(3), np.arange(3, 303)]
    agreed = terms("regression", rounds=6)
    both, large = (trained(*federation(agreed, x, y, some)) for some in (parts, parts[1:]))
    small = trained(*federation(agreed, x, y, parts[:1]))
    assert error_of(both) < error_of(large) + 0.1 < error_of(small)
    assert both.rows == {0: 3.0, 1: 300.0}


def test_some_clients_in_a_round() -> None:
    """contract: two of three are drawn, not always the same; who is away keeps its rows in the total."""
    x, y = problem("regression", 180)
    server, clients = federation(terms("regression", rounds=8), x, y, THREE)
    records = list(run_rounds(server, clients, OpenRounds(0.6)))
    assert all(len(record["clients"]) == 2 for record in records)
    assert len({tuple(record["clients"]) for record in records}) > 1
    assert float(server.broadcast(0).n_rows) == 180
    assert records[-1]["log_evidence"] > records[0]["log_evidence"]


def test_participants() -> None:
    """contract: the same for every order of the list, at least one, all for 1, and drawn anew each round."""
    assert participants(0, 1, [4, 2, 9], 1.0) == [2, 4, 9]
    assert participants(0, 1, [4, 2, 9, 7], 0.5) == participants(0, 1, [7, 9, 2, 4], 0.5)
    assert len(participants(0, 1, range(10), 0.001)) == 1 and len(participants(0, 1, range(10), 0.25)) == 3
    assert len({tuple(participants(0, round, range(10), 0.3)) for round in range(20)}) > 10
    for wrong in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(ValueError, match="fraction in"):
            participants(0, 1, [1], wrong)


@pytest.mark.parametrize("aggregation", ["wga", "sites"])
def test_units_go_and_bytes_fall(aggregation: str) -> None:
    """contract: exactly round(keep Q_W) units remain; what is removed is not sent any more."""
    x, y = problem("regression", 180)
    agreed = terms("regression", rounds=5, keep=0.5, prune_end=0.7, aggregation=aggregation, memory=1.0)
    server, clients = federation(agreed, x, y, THREE)
    records = list(run_rounds(server, clients))
    counts = [sum(record["active_units"]) for record in records]
    assert counts[-1] == round(0.5 * 10) and counts == sorted(counts, reverse=True)
    assert server.network.widths == (*records[-1]["active_units"], 2) and min(server.network.widths) >= 1
    assert [len(kept) for kept in server.kept] == records[-1]["active_units"]
    up, down = ([record[name] for record in records] for name in ("bytes_up", "bytes_down"))
    down = down[1:]  # the first round has no anchors to send
    assert up == sorted(up, reverse=True) and down == sorted(down, reverse=True)
    assert up[-1] < 0.7 * up[0] and down[-1] < 0.7 * down[0]
    sent = uploads_of(server, clients)[0].posterior
    assert sum(belief.weight.mean.size + belief.bias.mean.size for belief in sent) == server.network.n_params


def test_noise_from_the_server_in_a_regression() -> None:
    """identity: the clients' mean squares sigma^k, weighted by rows, by hand; the clients held the noise."""
    x, y = problem("regression", 180)
    agreed = terms("regression", noise="server")
    parts = [THREE[0][:10], THREE[1], THREE[2]]
    server, clients = federation(agreed, x, y, parts)
    old, uploads = server.state.noise_var, uploads_of(server, clients)
    server.aggregate(uploads)
    sigma = [upload.noise_stats.sums / upload.noise_stats.weight for upload in uploads.values()]
    np.testing.assert_allclose(server.state.noise_var, np.average(sigma, axis=0, weights=[10, 60, 60]), rtol=1e-5)
    assert all(np.array_equal(upload.noise_var, old) for upload in uploads.values())
    assert not np.array_equal(server.state.noise_var, old)


def test_noise_from_the_server_in_a_classification() -> None:
    """identity: (mu, E) pooled over the rows of all clients give a Gumbel's best noise, half of the way to it."""
    x, y = problem("classification", 180)
    parts = [THREE[0][:10], THREE[1], THREE[2]]
    server, clients = federation(terms("classification", noise="server"), x, y, parts)
    old, uploads = float(server.state.noise_var), uploads_of(server, clients)
    server.aggregate(uploads)
    pooled = np.average(
        [u.noise_stats.sums / u.noise_stats.weight for u in uploads.values()], axis=0, weights=[10, 60, 60]
    )
    loc, scale = gumbel.fit(*map(jnp.float64, pooled))
    target = float(scale**2 * gumbel.best_noise_var(loc / scale))
    np.testing.assert_allclose(server.state.noise_var, 0.5 * (old + target), rtol=1e-4)


def test_noise_of_the_clients_is_averaged() -> None:
    """identity: with noise="clients" its logarithm is averaged by rows."""
    x, y = problem("regression", 180)
    server, clients = federation(terms("regression"), x, y, [THREE[0][:10], THREE[1]])
    uploads = uploads_of(server, clients)
    server.aggregate(uploads)
    logs = [np.log(upload.noise_var.astype(float)) for upload in uploads.values()]
    np.testing.assert_allclose(np.log(server.state.noise_var), np.average(logs, axis=0, weights=[10, 60]), rtol=1e-5)


def test_a_round_that_is_not_finite_changes_nothing() -> None:
    """contract: the aggregate of a NaN raises, and the server can go on from the posterior it had."""
    x, y = problem("regression", 180)
    server, clients = federation(terms("regression"), x, y, THREE)
    server.aggregate(uploads_of(server, clients))
    before, good = server.state, uploads_of(server, clients)
    spoiled = good[1]._replace(noise_var=good[1].noise_var * np.nan)
    with pytest.raises(Diverged, match="the round before stays"):
        server.aggregate({**good, 1: spoiled})
    assert server.rounds_done == 1
    assert_same_bits(server.state, before)
    server.aggregate(good)
    assert server.rounds_done == 2


def test_a_server_forgets_as_its_terms_say() -> None:
    """identity: all forgotten, every client's slopes are its share of their sum; by default they are not."""
    x, y = problem("regression", 180)
    shares = [1 / 6, 1 / 3, 1 / 2]
    parts = [np.arange(0, 30), np.arange(30, 90), np.arange(90, 180)]
    for forget in (0.0, 1.0):
        server, clients = federation(terms("regression", aggregation="sites", forget=forget), x, y, parts)
        for its in trained(server, clients).memory[0]:
            whole = sum(site.slope for site in its.values())
            alike = [np.allclose(its[k].slope, share * whole, rtol=1e-9) for k, share in enumerate(shares)]
            assert alike == [bool(forget)] * 3


def test_a_forgetting_that_cannot_be() -> None:
    """contract: less than nothing and more than all."""
    for forget in (-0.1, 1.5):
        with pytest.raises(ValueError, match=f"forget={forget}"):
            terms("regression", forget=forget)


def test_a_step_goes_further_than_the_average() -> None:
    """identity: after the first round means lie `step` times as far as the average, then with momentum, by hand."""
    x, y = problem("regression", 180)
    plain, bold = terms("regression"), terms("regression", step=1.5, momentum=0.5)
    server, clients = federation(plain, x, y, THREE)
    server.aggregate(uploads_of(server, clients))
    other = Server(bold, *_start(plain, x, y))
    other.aggregate(uploads_of(other, clients))
    assert_same_bits(other.state, server.state)  # the first round takes the average
    old = server.state.layers[0].weight.mean
    uploads = uploads_of(server, clients)
    for party in (server, other):
        party.aggregate(uploads)
    average = server.state.layers[0].weight.mean
    stepped = other.state.layers[0].weight.mean
    np.testing.assert_allclose(stepped, old + 1.5 * (average - old), rtol=1e-4, atol=1e-6)
    uploads = uploads_of(other, clients)
    twin = Server(plain, other.state, other.rows)
    twin.rounds_done = other.rounds_done
    for party in (twin, other):
        party.aggregate(uploads)
    average = twin.state.layers[0].weight.mean
    expected = stepped + 1.5 * (average - stepped) + 0.5 * (stepped - old)
    np.testing.assert_allclose(other.state.layers[0].weight.mean, expected, rtol=1e-4, atol=1e-6)


def _start(agreed: Any, x: np.ndarray, y: np.ndarray) -> tuple[Any, dict[int, float]]:
    server, _ = federation(replace(agreed), x, y, THREE)
    return server.state, server.rows


@pytest.mark.parametrize("aggregation", ["wga", "waa", "sites"])
def test_no_client_has_a_veto(aggregation: str) -> None:
    """identity: of three clients the smallest is sure that a unit's weights are zero, with log-odds below -20; to the
    others they are one half. Averaged geometrically, with precisions alike, the weights are the shares' mean, and so
    far from zero that the unit is surely on; averaged algebraically the probability to be on is the others' share. No
    upload has odds of its own, which could be minus infinity."""
    x, y = problem("regression", 130)
    parts = [np.arange(0, 10), np.arange(10, 70), np.arange(70, 130)]
    server, clients = federation(terms("regression", prior="group", warm_up=6, aggregation=aggregation), x, y, parts)
    layers = server.state.layers
    asked = [layer._replace(offset=np.zeros_like(layer.offset), sure=np.asarray(False)) for layer in layers]
    server.state = server.state._replace(layers=tuple(asked))  # all units are in question, with even odds
    uploads, layer = uploads_of(server, clients), asked[0]
    assert Belief._fields == ("weight", "bias", "centre")
    for k, mean in ((0, 0.0), (1, 0.5), (2, 0.5)):
        belief = uploads[k].posterior[0]
        weight = on_host(*map(np.array, belief.weight), np.float32)
        weight.mean[0], weight.var[0] = mean, 1e-4 * layer.base_var
        uploads[k] = uploads[k]._replace(posterior=(belief._replace(weight=weight), *uploads[k].posterior[1:]))
        assert (group_logit(layer.offset, weight, layer.base_var)[0] < -20) == (k == 0)
        assert problem_of_upload(server, uploads[k]) is None
    server.aggregate(uploads)
    prob, mean = server.state.layers[0].active_prob[0], server.state.layers[0].weight.mean[0]
    share = 120 / 130
    np.testing.assert_allclose(prob, share if aggregation == "waa" else 1.0, rtol=1e-3)
    np.testing.assert_allclose(mean, 0.5 if aggregation == "waa" else 0.5 * share, rtol=1e-4)
