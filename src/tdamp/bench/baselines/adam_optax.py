"""Adam by optax: an epoch is one jitted scan over its minibatches."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ...extras import need
from ...network import Task
from ..problems import Problem
from .start import he_init, minibatches

optax = need("optax", "bench")
adam = optax.scale_by_adam()


class State(NamedTuple):
    """Parameters, a list of (weights, biases), and Adam's moments."""

    params: Any
    moments: Any


def init(widths: tuple[int, ...], seed: int) -> State:
    """He weights, zero moments."""
    params = jax.tree.map(jnp.asarray, he_init(widths, seed))
    return State(params, adam.init(params))


def forward(params: Any, x: Array) -> Array:
    """Outputs of the ReLU network."""
    for weight, bias in params[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = params[-1]
    return x @ weight + bias


def loss(params: Any, task: Task, x: Array, y: Array, present: Array) -> Array:
    """Mean softmax cross-entropy or mean squared error of the rows that are present."""
    out = forward(params, x)
    if task == "classification":
        each = optax.softmax_cross_entropy_with_integer_labels(out, y)
    else:
        each = ((out - y) ** 2).mean(-1)
    return (present * each).sum() / present.sum()


def step(task: Task, state: State, x: Array, y: Array, present: Array, rate: Array) -> State:
    """One Adam step."""
    grads = jax.grad(loss)(state.params, task, x, y, present)
    updates, moments = adam.update(grads, state.moments)
    return State(jax.tree.map(lambda p, u: p - rate * u, state.params, updates), moments)


def scan_epoch(task: Task, state: State, x: Array, y: Array, rows: Array, present: Array, rate: Array) -> State:
    """One step for every minibatch of `rows`."""

    def body(state: State, batch: tuple[Array, Array]) -> tuple[State, None]:
        here, mask = batch
        return step(task, state, x[here], y[here], mask, rate), None

    return jax.lax.scan(body, state, (rows, present))[0]


epoch = partial(jax.jit, static_argnums=0, donate_argnums=1)(scan_epoch)
_outputs = jax.jit(forward)


class Learner:
    """A network in training."""

    def __init__(self, problem: Problem, widths: tuple[int, ...], rate: float, batch: int, seed: int) -> None:
        self.task, self.batch, self.rate = problem.task, batch, jnp.float32(rate)
        self.x, self.y = jnp.asarray(problem.x), jnp.asarray(problem.y)
        self.state = init(widths, seed)

    def epoch(self, order: np.ndarray) -> None:
        """Train on the rows in this order, and wait for it."""
        rows, present = minibatches(order, self.batch)
        self.state = epoch(self.task, self.state, self.x, self.y, rows, present, self.rate)
        jax.block_until_ready(self.state)

    def point(self, x: np.ndarray) -> np.ndarray:
        """Network outputs."""
        return np.asarray(_outputs(self.state.params, x))
