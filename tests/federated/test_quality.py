"""What pruning costs a federation, by the rows that its clients hold out."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_friedman1

from helpers.flower_grid import classifier, grid_of, words
from helpers.little_federation import TASKS, federation, problem, terms, trained
from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.federated import checkpoint, federated_fit
from tdamp.federated.calibration import n_scores
from tdamp.federated.client import posterior_of
from tdamp.federated.flower import Rules, federate
from tdamp.federated.preparation import fitted_of
from tdamp.federated.quality import Judged, held_out_errors, pruning_loss
from tdamp.federated.rounds import OpenRounds, collect_reports
from tdamp.federated.validate import problem_of_report, problem_of_upload
from tdamp.prediction import batched
from tdamp.training.data import Data
from tdamp.training.equal_rows import kinds_of
from tdamp.training.outcome import TrainingWarning
from tdamp.training.pruning_loss import MeanLoss

PARTS = np.split(np.arange(180), 3)
PRUNED = {"keep": 0.5, "prune_start": 0.5, "prune_end": 0.75, "ranking": "loss", "hold_out": 0.3}


@pytest.mark.parametrize("task", TASKS)
def test_sums_of_clients_are_those_of_all_rows(task: str) -> None:
    """twin: R2 or accuracy and its standard error of all clients' rows in one place, some of them twice."""
    server, clients = federation(terms(task, 4, 2, **PRUNED), *problem(task, 180), PARTS)
    trained(server, clients)
    fitted = fitted_of(server, [])
    held = [client.held for client in clients if client.held is not None]
    held[0] = Data(*(np.concatenate([a, a[:5]]) for a in held[0]))  # copies are no further observations
    judged = [Judged(np.append(np.zeros(1), len(one.x)), held_out_errors(fitted, one)) for one in held]
    x, y, _ = (np.concatenate(arrays) for arrays in zip(*held, strict=True))
    loss = pruning_loss_of(server, judged)
    kinds = np.concatenate([1000 * k + kinds_of(one.x, one.y) for k, one in enumerate(held)])
    if task == "classification":
        wrong = (batched.log_probs(fitted, x).argmax(1) != y).astype(float)
        assert loss.accuracy_after == pytest.approx(1 - wrong.mean())
        parts = [MeanLoss.of(wrong, kinds).std_error]
    else:
        errors = np.square(y - batched.predicted(fitted, x).mean)
        assert loss.accuracy_after == pytest.approx(np.mean(1 - errors.mean(0) / y.var(0)), abs=1e-6)
        parts = [
            MeanLoss.of(column, kinds).std_error / spread for column, spread in zip(errors.T, y.var(0), strict=True)
        ]
    # before and after are the same rows here, taken for independent; a client's deviations are from its own mean
    assert loss.accuracy_std_error == pytest.approx(np.sqrt(2) * np.mean(parts), rel=0.05)
    assert loss.accuracy.mean == 0


def pruning_loss_of(server: Any, judged: list[Judged]) -> Any:
    """The loss from these sums to the same."""
    total = Judged.total(judged)
    if server.terms.network.output.is_calibrated:  # log scores on the grid of calibrations, all alike
        grid = np.zeros(n_scores(server.terms.network, server.terms.hold_out))
        grid[-1] = total.scores[-1]
        total = Judged(grid, total.errors)
    return pruning_loss(server.terms.network, total, total)


@pytest.mark.parametrize("task", TASKS)
def test_the_last_posterior_with_all_units_is_kept(task: str) -> None:
    """identity: the sums over all clients' rows of the posterior that round 3 began with; half of the units went after
    it. Honest messages pass, and sums of squares below zero do not."""
    server, clients = federation(terms(task, 4, 2, **PRUNED), *problem(task, 180), PARTS)
    for number in range(4):
        sent = {client.number: server.broadcast(client.number) for client in clients}
        uploads = {client.number: client.train(sent[client.number]) for client in clients}
        assert not any(problem_of_upload(server, upload) for upload in uploads.values())
        if number == 2:
            start = posterior_of(server.terms, sent[0])
            expected = sum(held_out_errors(start, client.held) for client in clients if client.held is not None)
        OpenRounds().end_round(server, sent, uploads)
    assert server.whole is not None and server.network.n_units < server.terms.network.n_units
    np.testing.assert_allclose(server.whole.errors, expected, rtol=1e-6)
    report = collect_reports(server, clients)[0]
    assert problem_of_report(server, report) is None
    assert "errors are" in str(problem_of_report(server, report._replace(errors=-np.ones(len(expected)))))


def test_without_a_goal_no_errors_are_sent() -> None:
    """contract: messages are as long as before."""
    server, clients = federation(terms("regression", 1, 1, hold_out=0.3), *problem("regression", 60), PARTS[:1])
    assert clients[0].train(server.broadcast(0)).errors is None


def shared(x: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Three clients' rows."""
    return [(x[k::3], y[k::3]) for k in range(3)]


FEDERATIONS = {
    "regression": (TDAMPRegressor, make_friedman1(450, noise=0.5, random_state=0), "R2"),
    "classification": (TDAMPClassifier, load_wine(return_X_y=True), "accuracy"),
}


@pytest.mark.parametrize("task", FEDERATIONS)
def test_a_loss_is_warned_of(task: str) -> None:
    """contract: a network too small for its task: what it costs, and what to do; the attribute says the same."""
    kind, rows, measure = FEDERATIONS[task]
    with pytest.warns(
        TrainingWarning, match=rf"pruning to 3 of \d+ groups costs 0\.\d+ of {measure}.*Use a larger keep"
    ):
        model = federated_fit(kind((16,), keep=3, random_state=0), shared(*rows), local_epochs=5).estimator
    loss = model.pruning_loss_
    assert loss is not None and loss.hurts and loss.accuracy.mean > 0.1


def test_a_size_that_costs_nothing_is_not_warned_of() -> None:
    """contract: no warning, and a loss within its errors."""
    x, y = FEDERATIONS["regression"][1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        model = federated_fit(TDAMPRegressor((16,), keep=0.7, random_state=0), shared(x, y), local_epochs=5).estimator
    assert model.pruning_loss_ is not None and not model.pruning_loss_.hurts


@pytest.mark.parametrize(
    ("options", "rounds", "words"),
    [
        ({}, 3, "no round began with all units. Use rounds=4 or more"),
        ({"early_stopping": False}, 4, "clients hold none"),
    ],
)
def test_what_nothing_judged_is_warned_of(options: dict[str, Any], rounds: int, words: str) -> None:
    """contract: what is missing, and what to do."""
    x, y = FEDERATIONS["regression"][1]
    model = TDAMPRegressor((16,), keep=0.5, random_state=0, **options)
    with pytest.warns(TrainingWarning, match=f"13 of 26 groups are left, and no rows say .*{words}"):
        assert federated_fit(model, shared(x, y), rounds=rounds, local_epochs=2).estimator.pruning_loss_ is None


def test_a_checkpoint_keeps_what_pruning_is_compared_with(tmp_path: Path) -> None:
    """identity: the sums come back to the last bit; a checkpoint without them loads."""
    request: dict[str, Any] = {}
    server, clients = federation(terms("regression", 4, 2, **PRUNED), *problem("regression", 180), PARTS)
    estimator = TDAMPRegressor((6,))
    for stored in (True, False):
        if stored:
            trained(server, clients)
        else:
            server.whole = None
        checkpoint.save(tmp_path / "c", request, estimator, server, [])
        found = checkpoint.load(tmp_path / "c", request, estimator)
        assert found is not None
        if stored:
            assert server.whole is not None and found[0].whole is not None
            for ours, theirs in zip(found[0].whole, server.whole, strict=True):
                np.testing.assert_array_equal(ours, theirs)  # type: ignore[arg-type]
        else:
            assert found[0].whole is None


def test_flower_says_the_same() -> None:
    """twin: `federated_fit` of the same clients."""
    how: dict[str, Any] = {"rounds": 4, "local_epochs": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        ours = federate(grid_of(words()), classifier(), rules=Rules(min_clients=3), **how).estimator.pruning_loss_
        theirs = federated_fit(classifier(), words(), **how).estimator.pruning_loss_
    assert ours is not None and ours == theirs
