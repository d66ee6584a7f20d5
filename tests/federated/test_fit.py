"""federated_fit: an estimator from clients' tables, and errors that name the client.

covers: federated.preparation, federated.summary, federated.terms
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tdamp import TDAMPClassifier, TDAMPRegressor, load
from tdamp.estimators.preprocess import scale_rows
from tdamp.federated import FederatedFit, Privacy, federated_fit
from tdamp.federated.privacy.central import epsilon

COLUMNS = ["age", "height", "noise", "weight"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4)) * [1.0, 20.0, 1.0, 0.1] + [0.0, 170.0, 5.0, 1.0]
Z = (X - X.mean(0)) / X.std(0)
Y = 100 + 10 * (np.abs(Z[:, 0]) + Z[:, 1] - 0.5 * Z[:, 3] + 0.1 * RNG.normal(size=240))
CLASSES = np.array(["low", "middle", "high"])[np.digitize(Y, np.quantile(Y, [1 / 3, 2 / 3]))]
TABLE = pd.DataFrame(X, columns=COLUMNS)
PARTS = [slice(0, 60), slice(60, 120), slice(120, 180)]
NEW = slice(180, 240)
SHORT: dict[str, Any] = {"rounds": 2, "local_epochs": 2}


def regressor(**changes: Any) -> TDAMPRegressor:
    """One shape for all tests."""
    return TDAMPRegressor((6,), random_state=0, batch_size=16, sweeps=1, **changes)


def classifier(**changes: Any) -> TDAMPClassifier:
    """One shape for all tests."""
    return TDAMPClassifier((6,), random_state=0, batch_size=16, sweeps=1, **changes)


def tables(y: Any) -> list[tuple[pd.DataFrame, Any]]:
    """Three clients."""
    return [(TABLE[part], y[part]) for part in PARTS]


@pytest.fixture(scope="module")
def regression() -> tuple[TDAMPRegressor, FederatedFit]:
    """The estimator that was given, and what came back."""
    asked = regressor()
    return asked, federated_fit(asked, tables(Y), rounds=6, local_epochs=5, test=(TABLE[NEW], Y[NEW]))


@pytest.fixture(scope="module")
def classification() -> FederatedFit:
    """The first client has one class only. All rows are trained on: twenty would choose a round by chance."""
    order = np.argsort(Y[:180], kind="stable")
    parts = [order[:40], order[40:100], order[100:]]
    assert len(np.unique(CLASSES[parts[0]])) == 1
    clients = [(TABLE.iloc[part], CLASSES[part]) for part in parts]
    model = classifier(early_stopping=False)
    return federated_fit(model, clients, rounds=8, local_epochs=4, test=(TABLE[NEW], CLASSES[NEW]))


def test_the_history(regression: tuple[TDAMPRegressor, FederatedFit]) -> None:
    """contract: a row for each round with the named columns; the score rises."""
    _, (model, history) = regression
    fields = {
        "round",
        "clients",
        "bytes_up",
        "bytes_down",
        "active_units",
        "noise_var",
        "log_evidence",
        "seconds",
        "score",
    }
    assert fields <= set(history.columns) and history["round"].tolist() == [1, 2, 3, 4, 5, 6]
    assert history["clients"].tolist() == [[0, 1, 2]] * 6 and history["active_units"].iloc[-1] == [4, 6]
    scores = history["score"]
    assert scores.iloc[-1] > 0.9 > scores.iloc[0]
    assert scores.iloc[model.fitted_.epoch - 1] == model.score(TABLE[NEW], Y[NEW])
    assert history["log_evidence"].iloc[-1] > history["log_evidence"].iloc[0] and (history["seconds"] > 0).all()
    assert model.history_.index.tolist() == history["round"].tolist()


def test_the_estimator_is_a_fitted_one(regression: tuple[TDAMPRegressor, FederatedFit]) -> None:
    """contract: scales of all clients' rows together; predictions in the units of y with a sane noise."""
    _, (model, _) = regression
    np.testing.assert_allclose(model.x_mean_, X[:180].mean(0), rtol=1e-10)
    np.testing.assert_allclose(model.x_scale_, X[:180].std(0), rtol=1e-10)
    np.testing.assert_allclose([model.y_mean_[0], model.y_scale_[0]], [Y[:180].mean(), Y[:180].std()], rtol=1e-10)
    mean, std = model.predict(TABLE[NEW], return_std=True)
    assert mean.shape == std.shape == (60,) and np.all(std > 0)
    assert np.mean(np.abs(Y[NEW] - mean) < 3 * std) > 0.9
    assert model.feature_names_in_.tolist() == COLUMNS and 150 <= model.n_rows_ <= 174  # about a tenth is held out
    prob = model.feature_active_prob_
    assert prob.shape == (4,) and prob.min() >= 0 and prob.max() <= 1
    assert model.lost_log_likelihood_.argmin() == 2  # the column that y does not depend on


def test_save_load_and_report(regression: tuple[TDAMPRegressor, FederatedFit], tmp_path: Path) -> None:
    """twin: a saved and loaded model predicts the same bits, and has its report."""
    _, (model, _) = regression
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(TABLE[NEW]), model.predict(TABLE[NEW]))
    model.report(tmp_path / "report.html", TABLE[NEW], Y[NEW])
    assert "height" in (tmp_path / "report.html").read_text()


def test_the_given_estimator_is_left_alone(regression: tuple[TDAMPRegressor, FederatedFit]) -> None:
    """contract: it is copied: no fitted attribute, the same parameters."""
    asked, (model, _) = regression
    assert not [name for name in vars(asked) if name.endswith("_")]
    assert asked.get_params() == regressor().get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        asked.predict(TABLE)
    clone(model)


def test_a_client_with_one_class(classification: FederatedFit) -> None:
    """calibration: it takes part; the classes are those of all clients, and new rows are told apart."""
    model, history = classification
    assert model.classes_.tolist() == ["high", "low", "middle"]
    probs = model.predict_proba(TABLE[NEW])
    assert probs.shape == (60, 3)
    np.testing.assert_allclose(probs.sum(1), 1, rtol=1e-9)
    assert history["score"].iloc[-1] > 0.7 and history["score"].iloc[-1] == model.score(TABLE[NEW], CLASSES[NEW])


def test_weights_are_copies() -> None:
    """twin: whole-number weights give the bits of repeated rows; weight zero leaves a row out."""
    weight = np.tile([0, 1, 2], 20)
    weighted = [(X[part], Y[part], weight) for part in PARTS]
    copied = [(np.repeat(X[part], weight, 0), np.repeat(Y[part], weight)) for part in PARTS]
    one, two = (federated_fit(regressor(), clients, **SHORT).estimator for clients in (weighted, copied))
    np.testing.assert_array_equal(one.predict(X[NEW]), two.predict(X[NEW]))
    plain = federated_fit(regressor(), [client[:2] for client in weighted], **SHORT).estimator
    assert np.abs(plain.predict(X[NEW]) - one.predict(X[NEW])).max() > 1e-3


def test_the_order_of_rows_is_nothing() -> None:
    """twin: small tables are sorted before training; frames and arrays are the same numbers."""
    straight, turned = (
        federated_fit(regressor(), [(X[part][::step], Y[part][::step]) for part in PARTS], **SHORT).estimator
        for step in (1, -1)
    )
    framed = federated_fit(regressor(), tables(Y), **SHORT).estimator
    np.testing.assert_array_equal(straight.predict(X[NEW]), turned.predict(X[NEW]))
    np.testing.assert_array_equal(straight.predict(X[NEW]), framed.predict(TABLE[NEW]))


def test_keep_is_reached() -> None:
    """contract: exactly the number of units asked for remains, and the model still predicts."""
    model, history = federated_fit(regressor(keep=6), tables(Y), rounds=4, local_epochs=2)
    assert model.n_units_ == 6 == sum(history["active_units"].iloc[-1])
    assert history["bytes_up"].iloc[-1] < history["bytes_up"].iloc[0]
    assert np.isfinite(model.predict(TABLE[NEW])).all()


def test_a_callback_may_end_it() -> None:
    """contract: it sees every record, and True ends the training after that round."""
    seen: list[dict] = []

    def callback(record: dict) -> bool:
        seen.append(record)
        return record["round"] == 2

    _, history = federated_fit(regressor(), tables(Y), rounds=5, local_epochs=2, callback=callback)
    assert [record["round"] for record in seen] == history["round"].tolist() == [1, 2]


BAD = X[PARTS[1]].copy()
BAD[3, 2] = np.nan
GOOD = (X[PARTS[0]], Y[PARTS[0]])


@pytest.mark.parametrize(
    ("clients", "options", "message"),
    [
        ([], {}, "clients is empty"),
        ({"a": GOOD}, {}, "clients: expected a list .*dict"),
        ([X], {}, r"client 0: expected \(X, y\)"),
        ([GOOD, (BAD, Y[PARTS[1]])], {}, "client 1: .*NaN"),
        ([GOOD, (X[PARTS[1]][:, :3], Y[PARTS[1]])], {}, "client 1: .*3 features"),
        ([GOOD, (X[PARTS[1]], Y[:7])], {}, "client 1: .*inconsistent"),
        ([GOOD, (X[PARTS[1]], Y[PARTS[1]], np.ones(3))], {}, "client 1: .*sample_weight"),
        ([GOOD, (X[:0], Y[:0])], {}, "client 1: .*0 sample"),
        ([GOOD, (X[PARTS[1]], X[PARTS[1], :2])], {}, "numbers of outputs"),
        ([tables(Y)[0], (TABLE[PARTS[1]][COLUMNS[::-1]], Y[PARTS[1]])], {}, "client 1: .*feature names"),
        ([GOOD], {"aggregation": "mean"}, "aggregation='mean'"),
        ([GOOD], {"noise": "none"}, "noise='none'"),
        ([GOOD], {"rounds": 0}, "rounds=0: expected a whole number of at least 1"),
        ([GOOD], {"rounds": 2.5}, "rounds=2.5: expected a whole number"),
        ([GOOD], {"local_epochs": -1}, "local_epochs=-1: expected a whole number"),
        ([GOOD], {"participation": 0.0}, "participation=0.0"),
        ([GOOD], {"step": 3.0}, "step=3.0"),
    ],
)
def test_errors_name_the_client_or_the_option(clients: list, options: dict[str, Any], message: str) -> None:
    """contract: bad tables and options raise ValueError before anything is trained."""
    with pytest.raises(ValueError, match=message):
        federated_fit(regressor(), clients, **{**SHORT, **options})


@pytest.mark.parametrize("name", ["X", "y"])
def test_numbers_that_do_not_fit_are_refused(name: str) -> None:
    """contract: rows of a client that joins later, beyond float32 in the scales agreed on, raise and say which."""
    x, y = X[PARTS[1]].copy(), Y[PARTS[1]].copy()
    scales = (X.mean(0), X.std(0)), (Y.mean(keepdims=True), Y.std(keepdims=True))
    assert np.isfinite(scale_rows(x, y, np.ones(60), *scales).x).all()
    (x if name == "X" else y)[3] = 1e39
    with pytest.raises(ValueError, match=rf"{name} has 1e\+39 .*above 1e\+12"):
        scale_rows(x, y, np.ones(60), *scales)


def test_one_class_in_all_is_refused() -> None:
    """contract: a classifier needs two classes among all clients."""
    with pytest.raises(ValueError, match="only one class"):
        federated_fit(classifier(), [(X[part], np.zeros(60, int)) for part in PARTS], **SHORT)


def test_labels_of_one_kind() -> None:
    """contract: text here and numbers there are not the same classes."""
    clients = [(X[PARTS[0]], CLASSES[PARTS[0]]), (X[PARTS[1]], np.digitize(Y[PARTS[1]], [100.0]))]
    with pytest.raises(ValueError, match="text and some are numbers"):
        federated_fit(classifier(), clients, **SHORT)


def test_class_weight_counts_over_all_clients() -> None:
    """twin: the same weights given row by row; each class weighs so much relative to all rows of all clients."""
    weights = np.where(CLASSES == "low", 5.0, 1.0)
    relative = weights / weights[:180].mean()
    by_class, _ = federated_fit(classifier().set_params(class_weight={"low": 5}), tables(CLASSES), **SHORT)
    by_row, _ = federated_fit(
        classifier(), [(*t, relative[p]) for t, p in zip(tables(CLASSES), PARTS, strict=True)], **SHORT
    )
    plain, _ = federated_fit(classifier(), tables(CLASSES), **SHORT)
    probs = [
        model.predict_proba(TABLE[NEW])[:, list(model.classes_).index("low")] for model in (by_class, by_row, plain)
    ]
    np.testing.assert_allclose(probs[0], probs[1], rtol=1e-6)
    assert probs[0].mean() > probs[2].mean() + 0.01


def test_private() -> None:
    """twin: without noise to speak of, near the plain average; with hardly a clip nothing is learned."""
    alike = dict(rounds=4, local_epochs=4, aggregation="wga", step=1.0, momentum=0.0)
    plain = federated_fit(regressor(), tables(Y), **alike).estimator
    quiet = federated_fit(regressor(), tables(Y), privacy=Privacy(1e6, 1e-15), **alike)
    distance = np.abs(quiet.estimator.predict(TABLE) - plain.predict(TABLE)).mean()
    assert distance < 0.25 * np.abs(plain.predict(TABLE) - Y.mean()).mean()
    assert list(quiet.history) == ["round", "active_units", "noise_var", "epsilon", "seconds"]
    assert (quiet.history["epsilon"].diff()[1:] > 0).all()
    still, start = (
        federated_fit(regressor(), tables(Y), privacy=Privacy(clip, 1e-9), **SHORT).estimator for clip in (1e-6, 1e-9)
    )
    np.testing.assert_allclose(still.predict(TABLE), start.predict(TABLE), atol=1e-3)
    assert np.abs(still.predict(TABLE) - plain.predict(TABLE)).max() > 1


def test_private_draws() -> None:
    """contract: rounds with no client count too, and the account is that of the part drawn."""
    federated = federated_fit(
        regressor(), tables(Y), privacy=Privacy(0.05, 2.0), participation=0.2, rounds=6, local_epochs=1
    )
    assert list(federated.history["round"]) == [1, 2, 3, 4, 5, 6]
    assert federated.history["epsilon"].iloc[-1] == epsilon(6, 0.2, 2.0, 1e-5)
    with pytest.raises(ValueError, match="sites"):
        federated_fit(regressor(), tables(Y), privacy=Privacy(4.0, 2.0), aggregation="sites")
