"""Before and after a federation, for its estimator: terms, scales and a start, and in the end its fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import ceil
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..engine import prune
from ..engine.network import Network
from ..engine.settings import Settings
from ..engine.state import State, start
from ..estimators import defaults
from ..estimators.harm import goal_name, harm
from ..estimators.images import n_channels
from ..estimators.parameters import group_ids_of, is_auto, kept, likelihood_of, network_of, settings_of
from ..numerics.scaling import channel_scales
from ..training.calibration import Calibration
from ..training.data import check_groups
from ..training.fitted import Fitted
from ..training.outcome import Outcome, TrainingWarning, users_level
from . import calibration as calibrate
from . import schedule
from .aggregation.base import weighted_sum
from .aggregation.catalog import rule_named
from .messages import FinalReport
from .quality import Judged, pruning_loss
from .server import Server
from .summary import Summary, merged, scales_after, scaling_of
from .terms import Terms

FORGET = 0.1
"""What sites forget in a round (`Terms.forget`). On MNIST with ten clients whose labels are skewed by Dirichlet(0.1),
rows held out, one run: 6.2 % after 10 and after 20 of 30 rounds; with 0 6.3 and 7.0 %. Alike clients with 1,200 rows
each lose a little: 3.4 % with 0, 3.6 % with 0.2 and with the geometric average."""
DATA_WEIGHT = 2.0
"""Growth of the data weight of few rows from round to round, up to LAST_DATA_WEIGHT; memory is half of the weight."""
LAST_DATA_WEIGHT = 20.0
NOT_CALIBRATED = "so that the widths of predictions are not calibrated: intervals may be too narrow"
NOT_CHOSEN = "so that rounds could not be compared: the last one is kept, be it the best or not"
NOT_ASKED = 1e30
"""Log likelihood lost without an input, where nobody was asked: it counts as needed."""


def negotiate(
    estimator: Any, summaries: Mapping[int, Summary], classes: Sequence[Any] | None, **options: Any
) -> tuple[Terms, State]:
    """Terms and start for clients with these summaries; the estimator is given their scales (and the classes).

    `options` are fields of `Terms`; those left out (or None) are chosen.
    """
    if estimator.devices is not None:
        raise ValueError(f"devices={estimator.devices!r}: clients train on one device each; leave devices out")
    numbers = sorted(summaries)
    total = merged([summaries[k] for k in numbers])
    scaling = scaling_of(total, estimator.standardize, likelihood_of(estimator).scales_targets)
    channels = n_channels(estimator)
    if channels is not None and estimator.standardize:
        x_mean, x_scale = channel_scales(total.x_mean, total.x_std, channels)
        scaling = scaling._replace(x_mean=x_mean, x_scale=x_scale)
    estimator.x_mean_, estimator.x_scale_ = scaling.x_mean, scaling.x_scale
    if classes is None:
        estimator.y_mean_, estimator.y_scale_ = scaling.y_mean, scaling.y_scale
    else:
        estimator.classes_ = np.unique(np.asarray(classes))
        if len(estimator.classes_) < 2:
            raise ValueError("All clients together have only one class: a classifier needs at least two classes")
    network = network_of(estimator)
    terms = _terms(estimator, network, float(total.n_rows), len(numbers), options)
    prune.check_goal(
        terms.settings, network, check_groups(group_ids_of(estimator, network.widths[0]), network.widths[0])
    )
    scales = scales_after(total, scaling, network.widths[-1], network.output.scales_targets)
    return terms, start(network, terms.settings, np.random.default_rng(terms.seed), scales, np.dtype(np.float32))


def _terms(estimator: Any, network: Network, n_rows: float, n_clients: int, options: Mapping[str, Any]) -> Terms:
    explicit = {name: value for name, value in options.items() if value is not None}
    asked = copy(estimator)  # with the preset, over which parameters win that are not "auto"
    asked.preset = explicit.pop("preset", estimator.preset)
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    chosen: dict[str, Any] = {"seed": seed, "step": schedule.STEP, "momentum": schedule.MOMENTUM}
    if n_clients == 1 or not rule_named(explicit.get("aggregation", Terms.aggregation)).server_step:
        chosen |= {"step": 1.0, "momentum": 0.0, "forget": FORGET}
    settings, holds_out = settings_of(asked, network, max(int(n_rows / n_clients), 1), n_all=n_rows)
    if is_auto(estimator.early_stopping) and asked.preset is None:
        holds_out = n_rows >= defaults.FEW_ROWS  # of all clients together, however few one has
    chosen["hold_out"] = estimator.validation_fraction if holds_out else 0.0
    lengths = {name: explicit[name] for name in ("rounds", "local_epochs") if name in explicit}
    terms = Terms(network, settings, **lengths)
    changes = _schedule(estimator, terms, n_rows, n_clients)
    if asked.preset == "paper":
        weight = np.repeat(_by_round(estimator.data_weight, n_rows, terms.rounds), terms.local_epochs)
        changes = {"data_weight": tuple(weight), "memory": None}
        chosen |= {"noise": "server", "step": 1.0, "momentum": 0.0, "forget": 0.0}
    goal: dict[str, Any] = {"keep": kept(estimator.keep), "ranking": "loss"}
    goal |= {name: getattr(estimator, name) for name in ("max_params", "max_multiply_adds", "prune_inputs")}
    settings = replace(settings, **goal, max_epochs=terms.rounds * terms.local_epochs, **changes)
    return replace(terms, settings=settings, **{**chosen, **explicit})


def _schedule(estimator: Any, terms: Terms, n_rows: float, n_clients: int) -> dict[str, Any]:
    """Data weight and memory of every epoch; with many rows also what belongs to `schedule.Schedule`."""
    if is_auto(estimator.keep):
        raise ValueError('keep="auto" compares sizes on rows of one table: give a federation a number or a fraction')
    goals = estimator.keep, estimator.max_params, estimator.max_multiply_adds
    rounds, epochs, prunes = terms.rounds, terms.local_epochs, any(goal is not None for goal in goals)
    few = n_rows / n_clients < schedule.MANY_ROWS
    late = {"prune_start": schedule.LATE_START, "prune_end": schedule.LATE_END} if prunes and few else {}
    if not isinstance(estimator.data_weight, str) or n_rows < schedule.MANY_ROWS:
        weight = np.repeat(_by_round(estimator.data_weight, n_rows, rounds), epochs)
        return late | {"data_weight": tuple(weight), "memory": tuple(weight / 2)}
    early = {"prune_start": schedule.PRUNE_START, "prune_end": schedule.PRUNE_END} if prunes else {}
    more: dict[str, Any] = {"learn_base_var": True, **(late or early)}
    anew = schedule.after_pruning(more["prune_end"], rounds) if prunes else None
    return more | schedule.Schedule().settings(rounds, epochs, anew)


def _by_round(data_weight: Any, n_rows: float, rounds: int) -> list[float]:
    """The data weight of every round, with few rows; the user's own is a number or one for each round."""
    if isinstance(data_weight, str):
        first = min(max(1000 / n_rows, 1.0), 3.0)
        return [min(first + DATA_WEIGHT * r, LAST_DATA_WEIGHT) for r in range(rounds)]
    values = [float(data_weight)] if isinstance(data_weight, Real) else [float(value) for value in data_weight]
    return [values[min(r, len(values) - 1)] for r in range(rounds)]


def fitted_of(server: Server, rounds: Sequence[Mapping[str, Any]]) -> Fitted:
    """The federation's network in the engine's form; its history has a record for each round."""
    settings, epochs = server.terms.settings, server.terms.local_epochs
    records = [
        {**record, "epoch": record["round"], "counted": counted_after(settings, epochs, i)}
        for i, record in enumerate(rounds)
    ]
    done = server.rounds_done == server.terms.rounds and settings.pruning == "paper"
    outcome = Outcome.TARGET_NOT_REACHED if done and not server.is_settled else Outcome.OK
    kept, history, at = tuple(server.kept), tuple(records), server.posterior_round
    return Fitted(server.network, server.state, kept, history, outcome, at, prediction=settings.prediction)


def counted_after(settings: Settings, local_epochs: int, round: int) -> float:
    """How often the posterior counts each row after a round, counted from 0: as printed, once in every epoch."""
    if settings.pasp == "paper":
        return float(local_epochs * (round + 1))
    return settings.data_weight_at(local_epochs * round)


def set_fitted(
    estimator: Any, server: Server, history: Sequence[Mapping[str, Any]], reports: Sequence[FinalReport] | None
) -> Any:
    """Give the estimator its fitted attributes; `reports` are the clients' final ones, None in a private federation."""
    calibration, loss = calibration_of(server, reports), None
    if reports is not None and server.terms.prunes_exactly:
        loss = pruning_loss(server.terms.network, server.whole, _judged(reports))
    estimator.fitted_ = replace(fitted_of(server, history), calibration=calibration, pruning=loss)
    if estimator.fitted_.outcome is not Outcome.OK:
        TrainingWarning.warn(estimator.fitted_.outcome)
    estimator.network_ = server.terms.network
    estimator.n_rows_ = int(sum(server.rows.values()))
    estimator.settings_ = server.terms.settings
    estimator.lost_log_likelihood_ = (
        np.full(server.terms.network.widths[0], NOT_ASKED)
        if reports is None
        else _total([report.lost for report in reports])
    )
    if reports is not None and server.terms.prunes_exactly:
        _warn_of_pruning(estimator, server, _judged(reports))
    return estimator


def _judged(reports: Sequence[FinalReport]) -> Judged:
    return Judged.total([Judged(report.judged, report.errors) for report in reports])


def _warn_of_pruning(estimator: Any, server: Server, judged: Judged) -> None:
    """Warn where pruning cost more than the clients' rows allow for, or where they cannot say what it cost."""
    left, total = estimator.n_groups_
    loss = estimator.fitted_.pruning
    if left < total and loss is None:
        reason = "no round began with all units"
        remedy = f"rounds={ceil(1 / server.terms.settings.prune_start)} or more"
        if not server.terms.hold_out or not judged.scores[-1] > 0:
            reason, remedy = "clients hold none out", "early_stopping=True and more rows at the clients"
        warnings.warn(
            f"{left} of {total} groups are left, and no rows say what it cost that the others went: {reason}. "
            f"Use {remedy}, or compare the scores of rows of your own with those of a federation without a goal.",
            TrainingWarning,
            stacklevel=users_level(),
        )
    if loss is not None and loss.hurts:
        warnings.warn(
            f"{harm(estimator, loss)}. Use a larger {goal_name(server.terms.settings)}, or more rounds, so that "
            "the units that remain can take over.",
            TrainingWarning,
            stacklevel=users_level(),
        )


def calibration_of(server: Server, reports: Sequence[FinalReport] | None) -> Calibration | None:
    """How wide to predict, by the rows that clients held out; None where widths are not calibrated, and as printed.

    A warning says so where rows were to be held out and none was: intervals are too narrow then, or no round is chosen.
    """
    is_calibrated = server.terms.network.output.is_calibrated
    if reports is None:
        if is_calibrated:
            warnings.warn(
                f"Clients were not asked about rows held out, {NOT_CALIBRATED}. Check how many rows of your own they "
                "hold, and widen them accordingly.",
                TrainingWarning,
                stacklevel=4,
            )
        return None
    scores = _total([report.judged for report in reports])
    if server.terms.hold_out and not scores[-1] > 0:
        warnings.warn(
            f"No client has held out a row, {NOT_CALIBRATED if is_calibrated else NOT_CHOSEN}. A client trains on one "
            "row (of each class) at least. Use clients with more rows that differ, or a larger validation_fraction.",
            TrainingWarning,
            stacklevel=4,
        )
    if not is_calibrated:
        return None
    if scores[-1] > 0:
        return calibrate.calibrated(scores)
    if server.terms.settings.pasp == "paper":
        return None
    return calibrate.uncalibrated(_total([report.known for report in reports]))


def _total(terms: Sequence[np.ndarray]) -> np.ndarray:
    return weighted_sum(terms, [1.0] * len(terms))
