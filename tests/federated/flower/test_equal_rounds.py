"""A federation over Flower is the one in one process, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flwr.app import Context, RecordDict

from helpers.flower_grid import classifier, grid_of, numbers, played, regressor, same, words
from tdamp.federated import federated_fit
from tdamp.federated.flower import Rules, federate, server_app
from tdamp.federated.messages import named

ROUNDS: dict[str, Any] = {"rounds": 3, "local_epochs": 2}
ALL = Rules(min_clients=3)


@pytest.mark.parametrize("aggregation", ["wga", "sites"])
def test_regression(aggregation: Any) -> None:
    """twin: `federated_fit`; replies come in reverse order, and a client's rows have fractional weights."""
    rows = numbers()
    here = federated_fit(regressor(), rows, aggregation=aggregation, **ROUNDS).estimator
    grid = grid_of(rows, order=lambda replies: replies[::-1])
    there = federate(grid, regressor(), rules=ALL, aggregation=aggregation, **ROUNDS)
    same(there.estimator, here)
    X = rows[0][0]
    np.testing.assert_array_equal(there.estimator.predict(X), here.predict(X))
    assert list(there.history["round"]) == [1, 2, 3]


def test_packed() -> None:
    """twin: with factored precisions on the wire a ServerApp ends in the bits of a server without Flower."""
    rows, options = numbers(), {**ROUNDS, "precision": "factored"}
    there: list[Any] = []
    server_app(regressor(), there.append, rules=ALL, **options)(grid_of(rows), Context(1, 0, {}, RecordDict(), {}))
    server, losses = played(rows, options)
    (federated,) = there
    for field, array in named(server.state).items():
        np.testing.assert_array_equal(named(federated.estimator.fitted_.state)[field], array, err_msg=field)
    np.testing.assert_array_equal(federated.estimator.lost_log_likelihood_, sum(losses))


def test_classification() -> None:
    """twin: `federated_fit` with text labels, named columns, groups, pruning, and a part of the clients in a round."""
    rows = words()
    here = federated_fit(classifier(), rows, participation=0.7, **ROUNDS).estimator
    grid = grid_of(rows, order=lambda replies: replies[::-1])
    there = federate(grid, classifier(), rules=Rules(min_clients=3, participation=0.7), **ROUNDS).estimator
    same(there, here)
    assert there.classes_.tolist() == here.classes_.tolist() == ["high", "low", "middle"]
    assert there.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(there.predict_proba(rows[0][0]), here.predict_proba(rows[0][0]))
    assert {len(record["clients"]) for record in there.fitted_.history} == {2}
