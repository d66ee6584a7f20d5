"""The estimator's side of a federation: common scales, terms and a start before it, a fitted estimator after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import prune
from ..checks import Data, check_groups
from ..fitted import Fitted
from ..network import Network
from ..outcome import Outcome
from ..state import State, start
from .aggregate import weighted_sum
from .server import Server
from .summary import Scaling, Summary, merged, scales_after, scaling_of
from .terms import Terms

STEP, MOMENTUM = 1.3, 0.4
"""Of a server with several clients. On MNIST with ten, chosen on rows held out: 2.5 % in three rounds, 3.3 % for the
plain average; a step of 2.5 diverged."""
FORGET = 0.1
"""Of sites. On MNIST with ten clients whose labels are skewed by Dirichlet(0.1), rows held out, one run: 6.2 % after 10
and after 20 of 30 rounds; with 0 6.3 and 7.0 %. Alike clients with 1,200 rows each lose a little: 3.4 % with 0, 3.6 %
with 0.2 and with the geometric average."""
DATA_WEIGHT = 2.0
"""By so much the data weight grows from round to round, up to LAST_DATA_WEIGHT; memory is half of it."""
LAST_DATA_WEIGHT = 20.0
NOT_ASKED = 1e30
"""Log likelihood lost without an input, where nobody was asked: it counts as needed."""


def agree(
    estimator: Any, summaries: Mapping[int, Summary], classes: Sequence[Any] | None, **options: Any
) -> tuple[Terms, State]:
    """Terms and start for clients with these summaries; the estimator takes their scales (and the classes).

    `options` are fields of `Terms`; those left out (or None) are chosen.
    """
    if estimator.devices is not None:
        raise ValueError(f"devices={estimator.devices!r}: clients train on one device each; leave devices out")
    numbers = sorted(summaries)
    total = merged([summaries[k] for k in numbers])
    scaling = scaling_of(total, estimator.standardize)
    estimator.x_mean_, estimator.x_scale_ = scaling.x_mean, scaling.x_scale
    if classes is None:
        estimator.y_mean_, estimator.y_scale_ = scaling.y_mean, scaling.y_scale
    else:
        estimator.classes_ = np.unique(np.asarray(classes))
        if len(estimator.classes_) < 2:
            raise ValueError("All clients together have only one class: a classifier needs at least two classes")
    network = estimator._network()
    terms = _terms(estimator, network, float(total.n_rows), len(numbers), options)
    prune.check_goal(terms.settings, network, check_groups(estimator._group_ids(network.widths[0]), network.widths[0]))
    scales = scales_after(total, scaling, network.widths[-1])
    return terms, start(network, terms.settings, np.random.default_rng(terms.seed), scales, np.dtype(np.float32))


def _terms(estimator: Any, network: Network, n_rows: float, n_clients: int, options: Mapping[str, Any]) -> Terms:
    given = {name: value for name, value in options.items() if value is not None}
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    alone = n_clients == 1 or given.get("aggregation") == "sites"
    chosen = {"step": 1.0, "momentum": 0.0, "forget": FORGET} if alone else {"step": STEP, "momentum": MOMENTUM}
    lengths = {name: given[name] for name in ("rounds", "local_epochs") if name in given}
    settings, holds_out = estimator._settings(network, max(int(n_rows / n_clients), 1))
    chosen["hold_out"] = estimator.validation_fraction if holds_out else 0.0
    terms = Terms(network, settings, **lengths)
    rounds, epochs = terms.rounds, terms.local_epochs
    weight = _by_round(estimator.data_weight, n_rows, rounds)
    settings = replace(
        terms.settings,
        max_epochs=rounds * epochs,
        data_weight=tuple(np.repeat(weight, epochs)),
        memory=tuple(np.repeat([value / 2 for value in weight], epochs)),
    )
    return replace(terms, settings=settings, seed=seed, **{**chosen, **given})


def _by_round(data_weight: Any, n_rows: float, rounds: int) -> list[float]:
    """The data weight of every round; the user's own is a number or one for each round."""
    if isinstance(data_weight, str):
        first = min(max(1000 / n_rows, 1.0), 3.0)
        return [min(first + DATA_WEIGHT * r, LAST_DATA_WEIGHT) for r in range(rounds)]
    values = [float(data_weight)] if isinstance(data_weight, Real) else [float(value) for value in data_weight]
    return [values[min(r, len(values) - 1)] for r in range(rounds)]


def scaled(task: str, scaling: Scaling, classes: np.ndarray | None, X: np.ndarray, y: np.ndarray, weight: Any) -> Data:
    """A client's rows as the engine wants them."""
    x = ((X - scaling.x_mean) / scaling.x_scale).astype(np.float32)
    if task == "classification":
        target = np.searchsorted(np.asarray(classes), y).astype(np.int32)
    else:
        target = ((y.astype(np.float64).reshape(len(y), -1) - scaling.y_mean) / scaling.y_scale).astype(np.float32)
    return Data(x, target, np.asarray(weight, np.float32))


def fitted_of(server: Server, history: Sequence[Mapping[str, Any]]) -> Fitted:
    """The federation's network in the engine's form; its history has a record for each round."""
    weights = server.terms.settings
    records = [
        {**record, "epoch": record["round"], "counted": weights.data_weight_at(server.terms.local_epochs * i)}
        for i, record in enumerate(history)
    ]
    return Fitted(server.network, server.state, tuple(server.kept), tuple(records), Outcome.OK, server.posterior_round)


def finish(
    estimator: Any, server: Server, history: Sequence[Mapping[str, Any]], losses: Sequence[np.ndarray] | None
) -> Any:
    """The fitted estimator; `losses` are what each client loses without each input, None if they are not to tell."""
    estimator.fitted_ = fitted_of(server, history)
    estimator.network_ = server.terms.network
    estimator.n_rows_ = int(sum(server.rows.values()))
    estimator.settings_ = server.terms.settings
    estimator.lost_log_likelihood_ = (
        np.full(server.terms.network.widths[0], NOT_ASKED)
        if losses is None
        else weighted_sum(losses, [1.0] * len(losses))
    )
    return estimator
