"""What is wrong with a model, if anything: numbers that are not finite, variances that are not positive, and so on."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from tdamp.engine.network import Network
from tdamp.engine.state import State
from tdamp.estimators import TDAMPClassifier, TDAMPRegressor
from tdamp.prediction import batched
from tdamp.training.fit import Fitted
from tdamp.training.outcome import Outcome

SUM_ERROR = 1e-5
"""By which float32 probabilities may miss one."""


def of_state(state: State) -> list[str]:
    """Every parameter is finite, every belief proper, every array float32."""
    faults = []
    for l, layer in enumerate(jax.device_get(state.layers)):
        for name in ("weight", "bias"):
            mean, var = getattr(layer, name)
            faults += _not_finite(f"layer {l} {name} mean", mean) + _not_positive(f"layer {l} {name} variance", var)
        faults += _not_positive(f"layer {l} base variance", np.asarray([layer.base_var, layer.bias_base_var]))
        faults += _not_finite(f"layer {l} centre", layer.centre)
        faults += _not_finite(f"layer {l} active_prob", layer.active_prob)
    faults += _not_positive("noise variance", np.asarray(state.noise_var))
    wrong = {np.asarray(leaf).dtype.name for leaf in jax.tree.leaves(state)} - {"float32", "bool"}
    return faults + ([f"the state holds {sorted(wrong)}"] if wrong else [])


def of_fitted(fitted: Fitted) -> list[str]:
    """Its state, its history and its outcome."""
    faults = ["diverged"] if fitted.outcome is Outcome.DIVERGED else []
    for record in fitted.history[-1:] if len(fitted.history) > 100 else fitted.history:
        for name, value in record.items():
            faults += _not_finite(f"history {name}", np.asarray(value, np.float64))
    return faults + of_state(fitted.state)


def of_engine(fitted: Fitted, network: Network, x: np.ndarray) -> list[str]:
    """Predictions of the engine."""
    z = batched.moments(fitted, x)
    faults = _not_finite("mean", z.mean) + _not_positive("epistemic variance", z.var)
    faults += _not_finite("posterior-mean network", batched.point(fitted, x))
    if network.task == "classification":
        return faults + _of_probs(batched.log_probs(fitted, x))
    return faults + _not_positive("noise", batched.predicted(fitted, x).aleatoric_var)


def of_estimator(model: Any, x: np.ndarray, x_far: np.ndarray, y: np.ndarray) -> list[str]:
    """Predictions and scores of an estimator; `x_far` are rows far from those it was trained on."""
    faults = []
    rows = np.concatenate([x, x_far])
    if isinstance(model, TDAMPClassifier):
        faults += _of_probs(model.predict_log_proba(rows))
        total = model.predict_proba(rows).sum(1)
        faults += [] if np.allclose(total, 1, rtol=0, atol=SUM_ERROR) else ["probabilities do not sum to one"]
    if isinstance(model, TDAMPRegressor):
        predicted = model.predict_distribution(rows)
        faults += _not_finite("mean", predicted.mean) + _not_positive("std", predicted.std)
        faults += _not_positive("epistemic std", predicted.epistemic_std)
        faults += _not_positive("degrees of freedom", np.where(np.isinf(predicted.dof), 1.0, predicted.dof))
        faults += _not_finite("quantiles", model.predict_quantiles(rows))
    faults += _not_finite("log score", model.log_score(x, y))
    return faults + _not_finite("lost log likelihood", model.lost_log_likelihood_)


def _of_probs(log_probs: np.ndarray) -> list[str]:
    faults = [] if not np.isnan(log_probs).any() else ["log probabilities are NaN"]
    probs = np.exp(log_probs.astype(np.float64))
    fair = np.allclose(probs.sum(1), 1, rtol=0, atol=SUM_ERROR)
    return faults + ([] if fair else ["exp of log probabilities does not sum to one"])


def _not_finite(name: str, values: Any) -> list[str]:
    return [] if np.isfinite(values).all() else [f"{name} is not finite"]


def _not_positive(name: str, values: Any) -> list[str]:
    values = np.asarray(values)
    return [] if (np.isfinite(values) & (values > 0)).all() else [f"{name} is not positive and finite"]
