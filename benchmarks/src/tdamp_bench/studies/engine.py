"""The engine in a study: trained at once, scored on rows, and with one of its functions replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import numpy as np

from tdamp import metrics
from tdamp.engine.network import Network
from tdamp.engine.predict import class_probs, output_moments
from tdamp.factors.layers.base import Linear
from tdamp.numerics.beliefs import Moments
from tdamp.training import compiled as programs
from tdamp.training import epoch
from tdamp.training.fitted import Fitted

_COMPILED: dict[Any, list[dict[Any, Any]]] = {}
"""Programs that were compiled with a replacement, by the replacement."""

moments_of = partial(jax.jit, static_argnums=0)(output_moments)
"""Moments of the outputs: (network, layers, x)."""


@contextmanager
def replaced(owner: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """`fit` runs with another function in the place of `owner.name`; its programs stay apart and off the disk.

    For questions of what a term is worth. Inside, only `fit` may be called: predictions are traced elsewhere.
    """
    ours = (epoch._e_step, epoch._m_step)
    before, folder, original = [program.compiled for program in ours], list(programs.FOLDER), getattr(owner, name)
    try:
        setattr(owner, name, function)
        programs.FOLDER.clear()
        for program, compiled in zip(ours, _COMPILED.setdefault(function, [{}, {}]), strict=True):
            program.compiled = compiled
        yield
    finally:
        setattr(owner, name, original)
        programs.FOLDER.extend(folder)
        for program, compiled in zip(ours, before, strict=True):
            program.compiled = compiled


_forward = Linear.forward


def without_onsager(linear: Linear, u: Moments, w: Moments, b: Moments, previous_score: Any) -> Moments:
    """`Linear.forward` without the Onsager term, which subtracts the last sweep's message."""
    return _forward(linear, u, w, b, None)


def regression_scores(mean: np.ndarray, var: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """NLL in nats and RMSE of N(mean, var), which has the noise in it."""
    y, mean, std = (np.ravel(np.asarray(a, np.float64)) for a in (y, mean, np.sqrt(var)))
    return {"nll": -metrics.log_score(y, mean, std), "loss": metrics.rmse(y, mean)}


def scores(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """NLL in nats, and RMSE or share of wrong labels, of the predictive distribution."""
    network: Network = fitted.network
    z = moments_of(network, fitted.state.layers, x)
    noise = np.asarray(fitted.state.noise_var)
    if network.task == "regression":
        return regression_scores(z.mean, np.asarray(z.var) + noise, y)
    probs = np.asarray(_probs(z, noise))
    return {"nll": -metrics.class_log_score(y, probs), "loss": metrics.error_rate(y, probs)}


_probs = jax.jit(class_probs)
