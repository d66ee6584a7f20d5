"""Small regressions for HMC: rows, network, what HMC draws from the posterior, and what the engine makes of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from scipy.special import logsumexp

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.engine.state import State, init
from tdamp.training.fit import fit

from ..core.problems import Problem
from ..figures.tidy import pick
from .engine import moments_of, regression_scores
from .sampler import Length, ess, r_hat, sample
from .study import Arm, Numbers

MEMORY = 10.0
"""Epochs that the posterior remembers, the same for every data weight."""
NOISE_STD = 0.2
"""Of targets whose variance is near one."""

USUAL = Settings(batch_size=20, noise_update="fixed")
"""The engine's own schedule: the data weight grows by one an epoch up to 20, and the memory with it."""


class Task(NamedTuple):
    """A function of so many inputs, learned from so many rows by so many hidden units."""

    title: str
    inputs: int
    rows: int
    hidden: int


TASKS = {"1-D": Task("1 input, 40 rows", 1, 40, 16), "4-D": Task("4 inputs, 150 rows", 4, 150, 8)}


class Plan(NamedTuple):
    """Sizes; a quick run's figures mean nothing."""

    length: Length = Length(1000, 2000, 64, 10)
    chains: int = 8
    epochs: int = 200
    test_rows: int = 200
    weights: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0, 30.0)
    sweeps: tuple[int, ...] = (1, 4)
    most_seeds: int = 5


QUICK = Plan(Length(40, 40, 8, 4), 2, 5, 50, (1.0, 3.0))


@cache
def problem(name: str, plan: Plan, seed: int) -> Problem:
    """Rows of a smooth function with noise; test rows are fresh ones of the same kind."""
    task = TASKS[name]
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (task.rows + plan.test_rows, task.inputs))
    clean = np.sin(2 * x[:, 0]) + 0.5 * x[:, 0] if task.inputs == 1 else np.sin(x[:, 0] + x[:, 1]) + 0.3 * x[:, 2] ** 2
    y = clean - clean[: task.rows].mean() + NOISE_STD * rng.standard_normal(len(x))
    x, y = x.astype(np.float32), y[:, None].astype(np.float32)
    return Problem("regression", x[: task.rows], y[: task.rows], x[task.rows :], y[task.rows :])


def network_of(name: str) -> Network:
    """One hidden layer."""
    return Network((TASKS[name].inputs, TASKS[name].hidden, 1))


def settings_of(plan: Plan, weight: float, sweeps: int, y: np.ndarray) -> Settings:
    """The noise is held at its true variance, and no coordinates move."""
    return Settings(
        max_epochs=plan.epochs,
        batch_size=20,
        sweeps=sweeps,
        data_weight=weight,
        memory=MEMORY,
        centre_rate=0.0,
        noise_update="fixed",
        noise_init=NOISE_STD**2 / float(y.var()),
    )


def output(state: State, task: Task, theta: jax.Array, x: Any) -> jax.Array:
    """The network whose weights are `theta`, in units of their prior deviations; (rows,)."""
    first, last = state.layers
    n, h = task.inputs, task.hidden
    w1, b1, w2, b2 = jnp.split(theta, np.cumsum([n * h, h, h]))
    hidden = (x - first.centre) @ (w1.reshape(n, h) * jnp.sqrt(first.base_var)) + b1 * jnp.sqrt(first.bias_base_var)
    return jax.nn.relu(hidden) @ (w2 * jnp.sqrt(last.base_var)) + b2 * jnp.sqrt(last.bias_base_var)


def sampled(arm: Arm, seed: int, plan: Plan) -> Numbers:
    """HMC's predictive mean and deviation (without the noise) at the test rows, NLL, and how well its chains agree."""
    rows, task = problem(arm.data, plan, seed), TASKS[arm.data]
    rng = np.random.default_rng(seed)
    settings = settings_of(plan, 1.0, 1, rows.y)
    state = jax.device_get(init(network_of(arm.data), settings, rng, rows.x, rows.y))

    def log_prob(theta: jax.Array) -> jax.Array:
        residual = rows.y[:, 0] - output(state, task, theta, rows.x)
        return -0.5 * (residual @ residual) / NOISE_STD**2 - 0.5 * theta @ theta

    size = task.hidden * (task.inputs + 2) + 1
    starts = rng.standard_normal((plan.chains, size)).astype(np.float32)
    draws, accept = sample(log_prob, starts, seed, plan.length)
    every = jax.vmap(jax.vmap(lambda theta: output(state, task, theta, rows.x_test)))
    outputs = np.asarray(jax.jit(every)(draws), np.float64)  # (chains, draws, rows)
    flat = outputs.reshape(-1, outputs.shape[-1])
    log_density = -0.5 * (rows.y_test[:, 0] - flat) ** 2 / NOISE_STD**2 - np.log(NOISE_STD * np.sqrt(2 * np.pi))
    r = r_hat(outputs)
    return {
        "mean": flat.mean(0),
        "std": flat.std(0),
        "nll": -np.mean(logsumexp(log_density, axis=0) - np.log(len(flat))),
        "rmse": np.sqrt(np.mean((flat.mean(0) - rows.y_test[:, 0]) ** 2)),
        "r_hat_median": np.median(r),
        "r_hat_max": r.max(),
        "ess_median": np.median(ess(outputs)),
        "accept": accept.mean(),
    }


def compared(arm: Arm, seed: int, plan: Plan, exact: pd.DataFrame) -> Numbers:
    """The engine's posterior beside HMC's at the test rows, its log score there, and its own log evidence."""
    rows, config = problem(arm.data, plan, seed), dict[str, Any](arm.config)
    if arm.method == "usual":
        settings = replace(USUAL, max_epochs=plan.epochs, noise_init=NOISE_STD**2 / float(rows.y.var()))
    else:
        settings = settings_of(plan, config["data_weight"], int(arm.method.split("-")[1]), rows.y)
    fitted = fit(network_of(arm.data), rows.x, rows.y, settings, seed=seed)
    z = moments_of(fitted.network, fitted.state.layers, rows.x_test)
    mean, std = np.asarray(z.mean, np.float64)[:, 0], np.sqrt(np.asarray(z.var, np.float64))[:, 0]
    here = pick(exact, data=arm.data, seed=seed)
    true_mean, true_std = (pick(here, number=name)["value"].to_numpy() for name in ("mean", "std"))
    scores = regression_scores(mean, std**2 + NOISE_STD**2, rows.y_test)
    return {
        "nll": scores["nll"],
        "rmse": scores["loss"],
        "mean_gap": np.sqrt(np.mean((mean - true_mean) ** 2)) / np.sqrt(np.mean(true_std**2)),
        "std_ratio": np.exp(np.mean(np.log(std / true_std))),
        "log_evidence": fitted.history[-1]["log_evidence"],
        "first_evidence": fitted.history[0]["log_evidence"],
    }
