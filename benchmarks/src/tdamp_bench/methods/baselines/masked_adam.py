"""Adam or AdamW on networks whose units may be switched off: many trainings at once, maybe with group lasso.

Adam: Kingma and Ba, 2015. Group lasso over outgoing weights: Scardapane et al., 2017. Proximal term: Li et al., 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tdamp.engine.network import Task

from ...core.jobs import Job, loss_of
from ...core.problems import Problem
from . import adam_optax
from .adam_optax import Dropped, Pace, Regular, State, n_steps, regular_of
from .recipe import Recipe
from .start import Orders, Params, minibatches
from .unit_masks import Masks, all_units

KINK = 1e-12
"""Added under the root of a group's norm, which has no gradient at zero."""


def masked(params: Any, masks: Any) -> Any:
    """The parameters with every weight out of or into a switched-off unit, and its bias, at exactly zero."""
    layers = []
    for l, (weight, bias) in enumerate(params):
        here = masks[l + 1] if l + 1 < len(masks) else jnp.ones_like(bias)
        layers.append((weight * masks[l][:, None] * here, bias * here))
    return layers


def group_lasso(params: Any) -> Array:
    """sum over units of sqrt(number of outgoing weights) x their Euclidean norm."""
    norms = (jnp.sqrt(jnp.square(weight).sum(1) + KINK) for weight, _ in params)
    return sum(np.sqrt(weight.shape[1]) * norm.sum() for (weight, _), norm in zip(params, norms, strict=True))


def distance(params: Any, others: Any) -> Array:
    """sum of squared differences over all weights and biases."""
    squares = jax.tree.map(lambda a, b: jnp.square(a - b).sum(), params, others)
    return jax.tree.reduce(jnp.add, squares)


class Pull(NamedTuple):
    """FedProx: (strength / 2) |parameters - anchor|^2 is added to the loss."""

    strength: Array
    anchor: Any


class Penalties(NamedTuple):
    """Terms that are added to the loss: `lasso` times the group lasso, and FedProx's pull if there is one."""

    lasso: Array
    pull: Pull | None = None


def loss(
    params: Any,
    task: Task,
    penalty: Array,
    x: Array,
    y: Array,
    present: Array,
    pull: Pull | None = None,
    dropped: Dropped | None = None,
) -> Array:
    """Cross-entropy or squared error, plus `penalty` times the group lasso, plus the pull if there is one."""
    penalised = adam_optax.loss(params, task, x, y, present, dropped) + penalty * group_lasso(params)
    return penalised if pull is None else penalised + pull.strength / 2 * distance(params, pull.anchor)


def scan_epoch(
    task: Task,
    state: State,
    masks: Any,
    rates: Array,
    penalties: Penalties,
    data: tuple[Array, Array],
    batches: tuple[Array, Array],
    regular: Regular | None = None,
) -> State:
    """One step for every minibatch, at one rate or at one for each; what is masked stays zero.

    `data` are x and y, `batches` the rows of every minibatch and which of them are present.
    """
    (x, y), (rows, present) = data, batches

    def body(state: State, batch: tuple[Array, Array, Array]) -> tuple[State, None]:
        here, mask, rate = batch
        dropped = adam_optax.dropped_now(state, regular)
        grads = jax.grad(loss)(state.params, task, penalties.lasso, x[here], y[here], mask, penalties.pull, dropped)
        state = adam_optax.updated(state, grads, rate, regular)
        return State(masked(state.params, masks), state.moments), None

    state = State(masked(state.params, masks), state.moments)
    return jax.lax.scan(body, state, (rows, present, jnp.broadcast_to(rates, len(rows))))[0]


@partial(jax.jit, static_argnums=(0, 1))
def _together(task: Task, shared: bool, state: State, *rest: Any) -> State:
    """`scan_epoch` of many networks; `shared` data are one array for all."""
    data = None if shared else 0
    return jax.vmap(partial(scan_epoch, task), in_axes=(0, 0, 0, 0, data, (0, None), 0))(state, *rest)


pruned = jax.jit(masked)
_masked_all = jax.jit(jax.vmap(masked))
_forward = jax.jit(adam_optax.forward)


def test_loss(params: Params, problem: Problem) -> float:
    """Test error or NMSE of one network."""
    return loss_of(np.asarray(_forward(params, problem.x_test)), problem)


class Fleet:
    """Networks of one shape in training together, one for each job; `config` gives a `Recipe` and maybe `penalty`.

    Where a recipe has a schedule, `epochs` says for how long the networks are trained.
    """

    def __init__(self, jobs: Sequence[Job], widths: tuple[int, ...], batch: int, epochs: int | None = None) -> None:
        self.jobs, self.widths, self.batch = jobs, widths, batch
        problems = [job.problem for job in jobs]
        self.shared = all(problem is problems[0] for problem in problems)
        self.task = problems[0].task

        def data(name: str) -> Array:
            each = [getattr(problem, name) for problem in problems]
            return jnp.asarray(each[0] if self.shared else np.stack(each))

        self.x, self.y = data("x"), data("y")
        self.penalty = jnp.asarray([float(job.config.get("penalty", 0.0)) for job in jobs], jnp.float32)
        self.recipes = [Recipe.of(job.config) for job in jobs]
        self.pace = Pace(self.recipes, epochs and self.steps(epochs))
        self.regular = regular_of(self.recipes, [job.seed for job in jobs])
        self.state = stack([adam_optax.init(widths, job.seed) for job in jobs])
        self.masks: Masks = stack([all_units(widths) for _ in jobs])
        self.pull: Pull | None = None
        self.orders: Sequence[Iterator[np.ndarray]] = [Orders(len(job.problem.x), job.seed) for job in jobs]

    def steps(self, epochs: int) -> int:
        """Of every network."""
        return n_steps(len(self.jobs[0].problem.x), self.batch, epochs)

    def epoch(self, parts: int = 1, after_part: Callable[[float], None] = lambda share: None) -> None:
        """Train for an epoch, in `parts`; after each `after_part(share of the epoch done)` may change the masks."""
        each = [minibatches(next(order), self.batch) for order in self.orders]
        rows, present = np.stack([rows for rows, _ in each]), each[0][1]
        parts = min(parts, len(present))
        for done in range(parts):
            some = slice(done * len(present) // parts, (done + 1) * len(present) // parts)
            rates = self.pace.next(some.stop - some.start)
            batches = rows[:, some], present[some]
            penalties = Penalties(self.penalty, self.pull)
            self.state = _together(
                self.task,
                self.shared,
                self.state,
                self.masks,
                rates,
                penalties,
                (self.x, self.y),
                batches,
                self.regular,
            )
            after_part((done + 1) / parts)

    def keep_only(self, masks: Sequence[Masks]) -> None:
        """From now on the units of these masks alone, one for each network."""
        self.masks = stack(masks)
        self.state = State(_masked_all(self.state.params, self.masks), self.state.moments)

    def left(self) -> list[Masks]:
        """The masks of every network."""
        return unstack(self.masks, len(self.recipes))

    def params(self) -> list[Params]:
        """Weights and biases of every network, on the host."""
        return unstack(jax.device_get(self.state.params), len(self.recipes))

    def extra(self) -> list[dict[str, list[float]]]:
        """Further lists by epoch, for each network."""
        return [{} for _ in self.recipes]


def stack(trees: Sequence[Any]) -> Any:
    """Many trees of one shape as one with a leading axis."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def unstack(whole: Any, count: int) -> list[Any]:
    """The trees that were stacked."""
    leaves, shape = jax.tree.flatten(whole)
    return [jax.tree.unflatten(shape, [leaf[k] for leaf in leaves]) for k in range(count)]
