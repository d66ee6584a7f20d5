"""Adam by optax, plain or AdamW with cosine decay and dropout: an epoch is one jitted scan over its minibatches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from tdamp.engine.network import Task

from ...core.problems import Problem
from .recipe import SHARES, Recipe
from .start import he_init, minibatches

adam = optax.scale_by_adam()


class State(NamedTuple):
    """Parameters, a list of (weights, biases), and Adam's moments."""

    params: Any
    moments: Any


def init(widths: tuple[int, ...], seed: int) -> State:
    """He weights, zero moments."""
    params = jax.tree.map(jnp.asarray, he_init(widths, seed))
    return State(params, adam.init(params))


INPUTS = 2**31 - 1
"""The number of the inputs among the layers whose units are left out; the hidden ones are counted from 0."""


class Regular(NamedTuple):
    """What AdamW adds to Adam: weight decay, dropout's shares (None: no dropout), and the key of its random numbers."""

    weight_decay: Array
    dropout: Array | None
    input_dropout: Array | None
    key: Array


class Dropped(NamedTuple):
    """Dropout in one step: the shares of hidden units and of inputs that are left out, and the step's key."""

    share: Array | None
    key: Array
    input_share: Array | None = None

    def of(self, units: Array, layer: int) -> Array:
        """Some units of a hidden layer, or inputs, at 0, the others larger, so that the mean is the same."""
        share = self.input_share if layer == INPUTS else self.share
        if share is None:
            return units
        kept = jax.random.bernoulli(jax.random.fold_in(self.key, layer), 1 - share, units.shape)
        return jnp.where(kept, units / (1 - share), 0.0)


def forward(params: Any, x: Array, dropped: Dropped | None = None) -> Array:
    """Outputs of the ReLU network; in training some inputs and hidden units may be left out."""
    x = x if dropped is None else dropped.of(x, INPUTS)
    for layer, (weight, bias) in enumerate(params[:-1]):
        x = jax.nn.relu(x @ weight + bias)
        x = x if dropped is None else dropped.of(x, layer)
    weight, bias = params[-1]
    return x @ weight + bias


def loss(params: Any, task: Task, x: Array, y: Array, present: Array, dropped: Dropped | None = None) -> Array:
    """Mean softmax cross-entropy or mean squared error of the rows that are present."""
    out = forward(params, x, dropped)
    if task == "classification":
        each = optax.softmax_cross_entropy_with_integer_labels(out, y)
    else:
        each = ((out - y) ** 2).mean(-1)
    return (present * each).sum() / present.sum()


def dropped_now(state: State, regular: Regular | None) -> Dropped | None:
    """The dropout of this step."""
    if regular is None or (regular.dropout is None and regular.input_dropout is None):
        return None
    return Dropped(regular.dropout, jax.random.fold_in(regular.key, state.moments.count), regular.input_dropout)


def updated(state: State, grads: Any, rate: Array, regular: Regular | None = None) -> State:
    """A step of Adam, or of AdamW, down these gradients."""
    updates, moments = adam.update(grads, state.moments)
    if regular is not None:
        updates = jax.tree.map(lambda u, p: u + regular.weight_decay * p, updates, state.params)
    return State(jax.tree.map(lambda p, u: p - rate * u, state.params, updates), moments)


def step(
    task: Task, state: State, x: Array, y: Array, present: Array, rate: Array, regular: Regular | None = None
) -> State:
    """One step on a minibatch."""
    grads = jax.grad(loss)(state.params, task, x, y, present, dropped_now(state, regular))
    return updated(state, grads, rate, regular)


def scan_epoch(
    task: Task,
    state: State,
    x: Array,
    y: Array,
    rows: Array,
    present: Array,
    rates: Array,
    regular: Regular | None = None,
) -> State:
    """One step for every minibatch of `rows`; `rates` is one for all of them, or one for each."""

    def body(state: State, batch: tuple[Array, Array, Array]) -> tuple[State, None]:
        here, mask, rate = batch
        return step(task, state, x[here], y[here], mask, rate, regular), None

    return jax.lax.scan(body, state, (rows, present, jnp.broadcast_to(rates, len(rows))))[0]


class PastTheEnd(ValueError):
    """A network is to be trained longer than its schedule lasts, where its rate would be 0."""


class Pace:
    """The learning rates of networks that step together, over `steps` steps in all (None: no end is known)."""

    def __init__(self, recipes: Sequence[Recipe], steps: int | None) -> None:
        if steps is None and any(recipe.cosine for recipe in recipes):
            raise ValueError("Cosine decay needs to know for how many epochs the network is trained: say `epochs`.")
        self.recipes, self.steps, self.done = recipes, steps, 0

    def next(self, count: int) -> np.ndarray:
        """Of the next `count` steps, (networks, count)."""
        here = np.arange(self.done, self.done + count)
        self.done += count
        if self.steps is not None and self.done > self.steps:
            raise PastTheEnd(f"This training was set up for {self.steps} steps; make a new one for more epochs.")
        return np.stack([self._rates(recipe, here) for recipe in self.recipes])

    def _rates(self, recipe: Recipe, steps: np.ndarray) -> np.ndarray:
        if not recipe.cosine:
            return np.full(len(steps), recipe.rate, np.float32)
        return np.asarray(optax.cosine_decay_schedule(recipe.rate, self.steps)(steps), np.float32)


def regular_of(recipes: Sequence[Recipe], seeds: Sequence[int]) -> Regular | None:
    """Of networks that are trained together, stacked; None where all are plain."""
    decay, *shares = (np.array([getattr(recipe, name) for recipe in recipes], np.float32) for name in SHARES)
    if not (decay.any() or any(share.any() for share in shares)):
        return None
    dropout, input_dropout = (jnp.asarray(share) if share.any() else None for share in shares)
    return Regular(
        jnp.asarray(decay),
        dropout,
        input_dropout,
        jnp.stack([jax.random.PRNGKey(seed) for seed in seeds]),
    )


def n_steps(rows: int, batch: int, epochs: int) -> int:
    """Minibatches, a short last one included."""
    return epochs * -(-rows // min(batch, rows))


epoch = partial(jax.jit, static_argnums=0, donate_argnums=1)(scan_epoch)
_outputs = jax.jit(forward)


class Learner:
    """A network in training, for `epochs` epochs if the rate follows a schedule."""

    def __init__(
        self,
        problem: Problem,
        widths: tuple[int, ...],
        recipe: float | Recipe,
        batch: int,
        seed: int,
        epochs: int | None = None,
    ) -> None:
        self.task, self.batch = problem.task, batch
        recipe = Recipe.of(recipe)
        self.pace = Pace([recipe], epochs and n_steps(len(problem.x), batch, epochs))
        self.regular = jax.tree.map(lambda leaf: leaf[0], regular_of([recipe], [seed]))
        self.x, self.y = jnp.asarray(problem.x), jnp.asarray(problem.y)
        self.state = init(widths, seed)

    def epoch(self, order: np.ndarray) -> None:
        """Train on the rows in this order, and wait for it."""
        rows, present = minibatches(order, self.batch)
        (rates,) = self.pace.next(len(rows))
        self.state = epoch(self.task, self.state, self.x, self.y, rows, present, rates, self.regular)
        jax.block_until_ready(self.state)

    def point(self, x: np.ndarray) -> np.ndarray:
        """Network outputs."""
        return np.asarray(_outputs(self.state.params, x))
