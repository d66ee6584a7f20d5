"""Federated regressions are as wide as rows held out ask for, whichever way the federation runs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from helpers.little_federation import federation, problem, terms, trained
from tdamp import TDAMPClassifier, TDAMPRegressor
from tdamp.federated import Privacy, federated_fit
from tdamp.federated.calibration import POINTS, calibrated, log_score
from tdamp.federated.rounds import collect_reports
from tdamp.federated.validate import problem_of_report
from tdamp.numerics.distribution import Distribution
from tdamp.training import calibration
from tdamp.training.calibration import LEAST_DOF
from tdamp.training.outcome import TrainingWarning

CLIENTS, ROWS, NEW, SEEDS = 3, 600, 2000, 3


def test_intervals_hold_what_they_say() -> None:
    """calibration: 95 % intervals on new rows, within three standard errors of 180 rows held out and 6,000 new ones."""
    held = []
    for seed in range(SEEDS):
        X, y = make_friedman1(ROWS + NEW, noise=1.0, random_state=seed)
        clients = [(X[k:ROWS:CLIENTS], y[k:ROWS:CLIENTS]) for k in range(CLIENTS)]
        model = TDAMPRegressor((16,), random_state=seed)
        fitted = federated_fit(model, clients, rounds=8, local_epochs=10).estimator
        low, high = fitted.predict_interval(X[ROWS:]).T
        held.append(np.mean((low <= y[ROWS:]) & (y[ROWS:] <= high)))
    # a quantile of n held-out rows covers like Beta(0.95 n, 0.05 n); the new rows are counted with a binomial's error
    spread = np.sqrt(0.95 * 0.05 * (1 / (SEEDS * 0.1 * ROWS) + 1 / (SEEDS * NEW)))
    assert abs(np.mean(held) - 0.95) < 3 * spread, held


@pytest.mark.parametrize("parts", [[range(400)] * 4, [range(9 * k, 9 * k + 9) for k in range(44)]])
def test_intervals_of_copies_and_of_tiny_clients(parts: list[range]) -> None:
    """calibration: four clients with the same 400 rows, and 44 with nine rows each, within three standard errors of the
    rows held out, some 40 that differ. (Where each client drew for itself: 84 %, and no row held out at all.)"""
    held, judged, n = [], 0.0, parts[-1].stop
    for seed in range(SEEDS):
        X, y = make_friedman1(n + NEW, noise=1.0, random_state=seed)
        clients = [(X[list(part)], y[list(part)]) for part in parts]
        fit = federated_fit(TDAMPRegressor((16,), random_state=seed), clients, rounds=8, together=True).estimator
        low, high = fit.predict_interval(X[n:]).T
        held.append(np.mean((low <= y[n:]) & (y[n:] <= high)))
        judged += n * (1 - fit.n_rows_ / sum(map(len, parts)))
    assert abs(np.mean(held) - 0.95) < 3 * np.sqrt(0.95 * 0.05 / judged), held


@pytest.mark.parametrize(("epistemic", "noise", "dof"), [(4.0, 1.5, 6.0), (60.0, 1.0, 30.0), (0.3, 2.0, 12.0)])
def test_sums_of_clients_are_all_rows(epistemic: float, noise: float, dof: float) -> None:
    """twin: the sums of three clients give `calibration.calibrate` of all rows, to a fifth of a nat of its peak."""
    rng = np.random.default_rng(0)
    part = rng.exponential(size=(900, 2)) ** 2
    std = np.sqrt(epistemic * part + noise * 0.5)
    y = std * rng.standard_t(dof, (900, 2)) * np.sqrt((dof - 2) / dof)
    result, weight = Distribution.from_vars(np.zeros((900, 2)), part, np.full((900, 2), 0.5)), np.ones(900)
    pieces = np.array_split(np.arange(900), [100, 350])
    sums = [calibration.log_likelihoods(POINTS, y[rows], result.take(rows), weight[rows]) for rows in pieces]
    ours = calibrated(np.append(sum(sums), 900.0))
    best = calibration.calibrate(y, result, weight)

    def log_posterior(made: calibration.Calibration) -> np.ndarray:
        point = np.log([made.epistemic, made.noise, made.dof - LEAST_DOF]).T
        return result.stretched(made).log_density(y).sum(0) + calibration.log_prior(point)

    assert (log_posterior(ours) > log_posterior(best) - 0.2).all()
    nodes = [calibration.calibration_at([point] * 2) for point in POINTS]
    assert (log_posterior(ours) >= np.max([log_posterior(node) for node in nodes], 0) - 0.01).all()


def test_rounds_are_compared_at_their_best_width() -> None:
    """contract: each target's score is that of its most probable point, prior included; no rows, none."""
    network = terms("regression").network
    sums = np.full((2, len(POINTS)), -50.0)
    sums[0, 7], sums[1, 100] = 40.0, 30.0
    assert log_score(network, np.append(sums, 10.0)) == (40 + 30) / 10
    alike = np.append(np.full(2 * len(POINTS), -5.0), 10.0)
    assert log_score(network, alike) == -1.0 and log_score(network, np.zeros(len(alike))) is None
    nearly = sums * 0 - 5.0
    likely = np.argmax(calibration.log_prior(POINTS))
    nearly[:, likely] -= 1e-3  # the prior outweighs so little
    assert log_score(network, np.append(nearly, 10.0)) == 2 * (-5.0 - 1e-3) / 10


def test_conclusions_are_looked_at() -> None:
    """contract: honest conclusions pass; each bad one is refused with a sentence that names what is wrong."""
    server, clients = federation(
        terms("regression", 2, 1, hold_out=0.25), *problem("regression", 120), np.split(np.arange(120), 3)
    )
    good = collect_reports(trained(server, clients), clients)[0]
    assert problem_of_report(server, good) is None and good.judged[-1] == len(clients[0].held.x)

    def at(array: np.ndarray, place: int, value: float) -> np.ndarray:
        changed = np.array(array)
        changed[place] = value
        return changed

    for message, bad in (
        ("lost has 1 NaN", good._replace(lost=at(good.lost, 0, np.nan))),
        ("lost is float64 of shape (3,)", good._replace(lost=good.lost[:3])),
        ("judged is float64 of shape", good._replace(judged=good.judged[:-1])),
        ("judged has 1 NaN", good._replace(judged=at(good.judged, 5, -np.inf))),
        ("judged reaches", good._replace(judged=at(good.judged, 5, 1e9))),
        ("judged is", good._replace(judged=at(good.judged, -1, 1e9))),
        ("n_rows is 0", good._replace(n_rows=np.zeros(()))),
        ("errors is not part of an upload", good._replace(errors=np.zeros(4))),
        ("known is", good._replace(known=at(good.known, 0, 1e6))),
        ("known is", good._replace(known=at(good.known, 0, -1.0))),
    ):
        assert message in str(problem_of_report(server, bad))


def small(**changes: object) -> tuple[TDAMPRegressor, list]:
    """An estimator and three little clients."""
    x, y = problem("regression", 90)
    model = TDAMPRegressor((6,), random_state=0, batch_size=16, sweeps=1, **changes)
    return model, [(x[part], y[part, 0]) for part in np.split(np.arange(90), 3)]


def test_without_rows_held_out() -> None:
    """identity: nothing is stretched, and the tails are those of the rows that tell the noise; with none all is."""
    result = federated_fit(*small(early_stopping=False), rounds=2, local_epochs=2).estimator.fitted_.calibration
    assert result.epistemic == result.noise == 1 and LEAST_DOF < result.dof[0] < LEAST_DOF + 90
    assert federated_fit(*small(), rounds=2, local_epochs=2).estimator.fitted_.calibration.epistemic != 1


def test_a_private_federation_says_that_it_is_not_calibrated() -> None:
    """contract: nothing is told of rows held out, and a warning says what that means."""
    with pytest.warns(TrainingWarning, match="not calibrated"):
        fit = federated_fit(*small(), rounds=1, local_epochs=1, privacy=Privacy(1.0, 1.0))
    assert fit.estimator.fitted_.calibration is None


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_federation_without_a_row_held_out_says_so(task: str) -> None:
    """contract: thirty clients of one row train on all; the warning says what that means and what to do. With
    early_stopping=False nobody asked for any."""
    x, y = problem(task, 30)
    y = y if task == "classification" else y[:, 0]
    clients = [(x[k : k + 1], y[k : k + 1]) for k in range(30)]
    kind = TDAMPRegressor if task == "regression" else TDAMPClassifier
    model = kind((6,), random_state=0, batch_size=16, sweeps=1)
    message = (
        "No client has held out a row, so that .*"
        + {
            "regression": "not calibrated: intervals .* Use clients with more rows .* validation_fraction",
            "classification": "the last one is kept.* larger validation_fraction\\.$",
        }[task]
    )
    with pytest.warns(TrainingWarning, match=message):
        federated_fit(model, clients, rounds=1, local_epochs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        federated_fit(model.set_params(early_stopping=False), clients, rounds=1, local_epochs=1)
