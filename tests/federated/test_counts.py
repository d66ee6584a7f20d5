"""A federation of counts: the centralised training, targets that keep their unit, numbers that are no counts."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy import stats

from tdamp import Network, Settings, TDAMPRegressor, fit
from tdamp.engine.state import init, scales_of
from tdamp.federated import Privacy, federated_fit
from tdamp.federated.client import Client
from tdamp.federated.rounds import run_rounds
from tdamp.federated.server import Server
from tdamp.federated.summary import merged, scales_after, scaling_of, summary_of
from tdamp.federated.terms import Terms
from tdamp.training.data import check_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 3))
RATE = np.exp(0.8 * X[:, 0] + 0.5 * np.abs(X[:, 1]))
COUNTS = RNG.poisson(RATE)
PARTS = [slice(0, 60), slice(60, 120), slice(120, 180)]
NEW = slice(180, 700)


def regressor() -> TDAMPRegressor:
    """One shape for all tests."""
    return TDAMPRegressor((8,), likelihood="poisson", random_state=0, batch_size=16)


@pytest.mark.parametrize("aggregation", ["wga", "waa"])
def test_one_client_is_a_training_on_its_own(aggregation: str) -> None:
    """twin: two rounds of two epochs equal tdamp.fit of four, bit for bit."""
    network = Network((3, 8, 2), likelihood="poisson")
    x, y = X[:60].astype(np.float32), np.stack([COUNTS[:60], COUNTS[60:120]], 1)
    terms = Terms(network, Settings(max_epochs=4, batch_size=16), 2, 2, aggregation=aggregation, seed=3)
    whole = check_data(network, x, y, None)
    state = init(network, terms.settings, np.random.default_rng(3), *whole)
    server = Server(terms, state, {0: 60.0})
    for _ in run_rounds(server, [Client(0, terms, whole)]):
        pass
    alone = fit(network, x, y, terms.settings, seed=3)
    for a, b in zip(jax.tree.leaves(server.state), jax.tree.leaves(jax.device_get(alone.state)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_scales_are_those_of_all_rows() -> None:
    """twin: summaries merged give the scales of a centralised start, with counts as they are."""
    parts = [summary_of(X[part], COUNTS[part, None], np.ones(60)) for part in PARTS]
    total = merged(parts)
    scaling = scaling_of(total, True, False)
    assert scaling.y_mean == 0 and scaling.y_scale == 1 and (scaling.x_scale != 1).all()
    expected = scales_of(
        Network((3, 8, 1), likelihood="poisson"), (X[:180] - scaling.x_mean) / scaling.x_scale, COUNTS[:180, None]
    )
    for a, b in zip(scales_after(total, scaling, 1, False), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_three_clients_learn_as_all_rows_together() -> None:
    """calibration: on 520 new rows the log score is within 0.05 nats of a centralised fit's, a constant's 0.2 away;
    90 % intervals hold 90 % or more, as counts are whole."""
    together = federated_fit(regressor(), [(X[part], COUNTS[part]) for part in PARTS], rounds=4, local_epochs=5)
    model, alone = together.estimator, regressor().fit(X[:180], COUNTS[:180])
    assert model.y_mean_ == 0 and model.y_scale_ == 1 and model.fitted_.calibration is None
    score = model.log_score(X[NEW], COUNTS[NEW])
    constant = stats.poisson.logpmf(COUNTS[NEW], COUNTS[:180].mean()).mean()
    assert score > alone.log_score(X[NEW], COUNTS[NEW]) - 0.05 and score > constant + 0.2
    low, high = model.predict_interval(X[NEW], 0.9).T
    assert np.mean((low <= COUNTS[NEW]) & (COUNTS[NEW] <= high)) > 0.9 - 4 * 0.013


def test_private() -> None:
    """contract: a private federation of counts ends with finite predictions and its epsilon."""
    federated = federated_fit(
        regressor(), [(X[part], COUNTS[part]) for part in PARTS], rounds=1, local_epochs=1, privacy=Privacy(1.0, 1.0)
    )
    assert np.isfinite(federated.estimator.predict(X[NEW])).all() and federated.history["epsilon"].iloc[-1] > 0


def test_no_counts_are_refused() -> None:
    """contract: the error names the client."""
    with pytest.raises(ValueError, match="client 1: y has numbers that are no counts"):
        federated_fit(regressor(), [(X[:60], COUNTS[:60]), (X[60:120], COUNTS[60:120] + 0.5)], rounds=1)
