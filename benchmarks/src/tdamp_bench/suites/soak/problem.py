"""One problem of a configuration: drawn, trained on, examined."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.engine.state import scales_of
from tdamp.estimators import TDAMPClassifier, TDAMPRegressor
from tdamp.factors.likelihoods.heteroscedastic import LARGEST_VAR
from tdamp.training.fit import fit
from tdamp.training.fitted import Fitted

from . import faults, hostile, places
from .configuration import Configuration
from .plan import Plan

STREAM = 2
REFUSAL = "too large or too small for float32"
"""The engine's own words for data of a scale that it does not take; any other refusal is a fault."""
FAR = 10.0, 1e3, 1e6
"""Standard deviations by which the rows are off that predictions are tried on besides those of the table."""


def run(configuration: Configuration, index: int, number: int, plan: Plan) -> dict[str, Any]:
    """A line of the record: what was tried, how it ended, and every fault."""
    c = configuration
    rng = np.random.default_rng([STREAM, index, number])
    widths = c.widths(rng)
    count = int(rng.integers(c.rows[0], c.rows[1] + 1))
    rows = hostile.draw(rng, c.task, count, widths[0], c.outputs, c.face == "engine")
    started = time.perf_counter()
    outcome: dict[str, Any] = {"faults": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            outcome = (_by_estimator if c.face == "estimator" else _by_engine)(c, widths, rows, rng, plan)
        except RuntimeWarning as warning:
            outcome["faults"] = [f"RuntimeWarning: {warning}"]
        except ValueError as error:
            outcome = {
                "outcome": "REFUSED",
                "faults": [] if REFUSAL in str(error) else [f"ValueError: {error}"],
            }
    return {
        "kind": "problem",
        "configuration": index,
        "problem": number,
        "widths": widths,
        "rows": len(rows.x),
        "tricks": rows.tricks,
        **outcome,
        "warnings": sorted({type(w.message).__name__ for w in caught} - {"TrainingWarning"}),
        "seconds": round(time.perf_counter() - started, 3),
    }


def _by_estimator(
    c: Configuration, widths: tuple[int, ...], rows: hostile.Rows, rng: np.random.Generator, plan: Plan
) -> dict[str, Any]:
    common: dict[str, Any] = dict(
        activation=c.activation, prior=c.prior, keep=c.keep, pruning=c.pruning, groups=_groups(c, widths[0]),
        pasp=c.pasp, data_weight=float(10 ** rng.uniform(-1, 2)) if rng.random() < 0.5 else "auto",
        noise_update=c.noise_update, sweeps=int(rng.integers(2, 5)) if c.many_sweeps else 1, batch_size=c.batch_size,
        max_epochs=plan.epochs, early_stopping=c.early_stopping, random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    if c.task == "regression":
        model: Any = TDAMPRegressor(widths[1:], noise=c.noise, **common)
        y = rows.y[:, 0] if c.outputs == 1 else rows.y
    else:
        model, y = TDAMPClassifier(widths[1:], **common), rows.y
    model.fit(rows.x, y, rows.weight)
    far = model.x_mean_ + model.x_scale_ * np.concatenate([s * rng.standard_normal((2, widths[0])) for s in FAR])
    wrong = faults.of_fitted(model.fitted_) + faults.of_estimator(model, rows.x, far, y)
    return _summary(model.fitted_, wrong, places.of(model.network_, model.settings_, len(rows.x), len(model.history_)))


def _by_engine(
    c: Configuration, widths: tuple[int, ...], rows: hostile.Rows, rng: np.random.Generator, plan: Plan
) -> dict[str, Any]:
    outputs = 2 * c.outputs if c.noise == "varying" else c.outputs
    network = Network((*widths, outputs), c.task, c.activation, c.noise)  # type: ignore[arg-type]
    settings = Settings(
        max_epochs=plan.epochs, batch_size=c.batch_size, sweeps=int(rng.integers(2, 5)) if c.many_sweeps else 1,
        damping=float(rng.uniform(0, 0.9)), trust=float(10 ** rng.uniform(-1, 3)),
        centre_rate=float(rng.choice([0.0, 0.02, 0.5])), prior=c.prior, pasp=c.pasp,  # type: ignore[arg-type]
        data_weight=float(10 ** rng.uniform(-1, 2)),
        memory=float(10 ** rng.uniform(-1, 2)) if rng.random() < 0.5 else None,
        noise_update=c.noise_update, noise_every=c.noise_every,  # type: ignore[arg-type]
        noise_init=float(10 ** rng.uniform(-3, 1)), learn_base_var=c.learn_base_var, keep=c.keep,
        pruning=c.pruning, warm_up=1, init_noise=float(10 ** rng.uniform(-2, 0)),  # type: ignore[arg-type]
    )  # fmt: skip
    x, y = rows.x.astype(np.float32), rows.y.astype(np.float32 if c.task == "regression" else np.int32)
    if c.noise == "varying":  # the engine takes no large targets then
        y_var = scales_of(network, x, y, rows.weight).y_var
        y = np.asarray(y / np.where(y_var > LARGEST_VAR, np.sqrt(y_var), 1), np.float32)
    groups = _groups(c, widths[0])
    fitted = fit(network, x, y, settings, seed=int(rng.integers(2**31)), sample_weight=rows.weight, groups=groups)
    wrong = faults.of_fitted(fitted) + faults.of_engine(fitted, network, x)
    return _summary(fitted, wrong, places.of(network, settings, len(x), len(fitted.history)))


def _groups(c: Configuration, n_in: int) -> np.ndarray | None:
    return np.arange(n_in) // 2 if c.grouped else None


def _summary(fitted: Fitted, wrong: list[str], of: dict[str, int]) -> dict[str, Any]:
    """Clips and their places in the order of `places.CLIPS`."""
    clips = [sum(record[name] for record in fitted.history) for name in places.CLIPS]
    return {
        "outcome": fitted.outcome.name,
        "epochs": len(fitted.history),
        "faults": wrong,
        "clips": clips,
        "places": [of[name] for name in places.CLIPS],
    }
