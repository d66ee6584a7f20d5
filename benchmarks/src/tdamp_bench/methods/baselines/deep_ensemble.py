"""A deep ensemble: five networks with an output for the mean and one for the variance, trained by Adam.

Member m says y ~ N(mean_m(x), var_m(x)) and is trained on this density alone; the prediction is the Gaussian that has
the moments of the members' mixture, as Lakshminarayanan, Pritzel and Blundell (2017) have it. No weight decay, no
adversarial rows (`predict`); or with AdamW, cosine decay, weight decay and dropout to choose from (`predict_adamw`).
Tuned for each split on the last fifth of its training rows, which are left out, by the ensemble's log score there: the
recipe, of four rates or eight, and the number of epochs. Then trained anew on all of its training rows.

Splits, recipes and members are trained together, and the seconds divided among the splits. Oracles: the integral of the
mixture's density, and a loop over the steps of one network.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import ArrayLike

from tdamp.numerics.beliefs import Moments

from ...suites.uci.tasks import Answer, Gaussian, Task
from . import adam_optax
from .adam_optax import Dropped, Pace, Regular, State, adam, n_steps, regular_of
from .recipe import Recipe, strong
from .start import Orders, he_init, minibatches

MEMBERS = 5
LEAST_VAR = 1e-6
"""Added to a variance, as in the paper; targets have variance one."""
HELD_OUT = 0.2
"""Share of the training rows on which recipe and epochs are chosen."""
PLAIN = tuple(Recipe(rate) for rate in (1e-3, 3e-3, 1e-2, 3e-2))
ADAMW = tuple(strong(rate, decay, drop) for rate in (3e-3, 1e-2) for decay, drop in ((0.01, 0.0), (0.1, 0.05)))
"""A schedule lasts for the most epochs; a look before its end stops it early."""


class Effort(NamedTuple):
    """Recipes to choose from; epochs at most, looked at after equal shares of them, as often as `checks` says."""

    recipes: tuple[Recipe, ...]
    epochs: int
    checks: int
    batch: int


def effort(rows: int, quick: bool = False, recipes: tuple[Recipe, ...] = PLAIN) -> Effort:
    """As many steps for small tables as for large ones, within reason: from 100 to 800 epochs."""
    if quick:
        return Effort((recipes[0], recipes[-1]), 4, 2, 32)
    return Effort(recipes, int(np.clip(400_000 // rows, 100, 800)), 40, 32 if rows < 2000 else 128)


def predict_adamw(tasks: Sequence[Task], quick: bool = False) -> Iterator[Answer]:
    """With AdamW's recipes beside the plain ones."""
    return predict(tasks, quick, PLAIN + ADAMW)


def predict(tasks: Sequence[Task], quick: bool = False, recipes: tuple[Recipe, ...] = PLAIN) -> Iterator[Answer]:
    """All tasks at once."""
    if not tasks:
        return
    started = time.perf_counter()
    work = effort(len(tasks[0].x), quick, recipes)
    x, y = np.stack([task.x for task in tasks]), np.stack([task.y for task in tasks])
    seeds, hidden = [task.split for task in tasks], tasks[0].hidden
    chosen, epochs = choose(x, y, seeds, hidden, work)
    nets = Nets(x, y, seeds, hidden, [[recipe] for recipe in chosen], work)
    x_test = np.stack([task.x_test for task in tasks])
    predictions: dict[int, Gaussian] = {}
    for epoch in _scored_epochs(work, int(epochs.max()), nets):
        due = np.flatnonzero(epochs == epoch)
        if len(due):
            members = nets.predict(x_test)
            predictions |= {int(i): mixture(members.mean[i, 0], members.var[i, 0]) for i in due}
    seconds = (time.perf_counter() - started) / len(tasks)
    for i in range(len(tasks)):
        yield Answer(predictions[i], seconds, {**chosen[i].config, "epochs": int(epochs[i])})


def choose(
    x: np.ndarray, y: np.ndarray, seeds: Sequence[int], hidden: int, work: Effort
) -> tuple[list[Recipe], np.ndarray]:
    """Recipe and epochs for every split: the best log score of its last rows, which were left out."""
    held_out = max(1, round(HELD_OUT * x.shape[1]))
    nets = Nets(x[:, :-held_out], y[:, :-held_out], seeds, hidden, [work.recipes] * len(x), work)
    scores, epochs = [], []
    for epoch in _scored_epochs(work, work.epochs, nets):
        mean, var = (np.moveaxis(np.asarray(a), 2, 0) for a in nets.predict(x[:, -held_out:]))
        both = mixture(mean, var)
        z = (y[:, None, -held_out:] - both.mean) / both.std
        scores.append((-0.5 * z**2 - np.log(both.std)).mean(-1))
        epochs.append(epoch)
    flat = np.nan_to_num(np.stack(scores, -1), nan=-np.inf).reshape(len(x), -1)
    recipe, check = np.divmod(flat.argmax(1), len(epochs))
    return [work.recipes[i] for i in recipe], np.array(epochs)[check]


def mixture(mean: ArrayLike, var: ArrayLike) -> Gaussian:
    """Mean and deviation of the equal mixture of N(mean_m, var_m), members along the first axis."""
    mean, var = np.asarray(mean, np.float64), np.asarray(var, np.float64)
    return Gaussian(mean.mean(0), np.sqrt(var.mean(0) + mean.var(0)))


class Nets:
    """Networks in training, (splits, recipes, members); a member sees the rows in an order of its own."""

    def __init__(
        self,
        x: np.ndarray,
        y: np.ndarray,
        seeds: Sequence[int],
        hidden: int,
        recipes: Sequence[Sequence[Recipe]],
        work: Effort,
    ) -> None:
        self.x, self.y, self.batch = jnp.asarray(x), jnp.asarray(y), work.batch
        self.orders = [Orders(x.shape[1], seed=member) for member in range(MEMBERS)]
        self.shape = len(recipes), len(recipes[0])
        self.state = init((x.shape[2], hidden, 2), seeds, self.shape[1])
        flat = [recipe for split in recipes for recipe in split]
        self.pace = Pace(flat, n_steps(x.shape[1], work.batch, work.epochs))
        self.regular = self._regular(flat, seeds)

    def _regular(self, flat: Sequence[Recipe], seeds: Sequence[int]) -> Regular | None:
        """Every network of a split draws its own dropout, the same for all recipes."""
        members = [
            regular_of(flat, [MEMBERS * seed + member for seed in seeds for _ in range(self.shape[1])])
            for member in range(MEMBERS)
        ]
        stacked = jax.tree.map(lambda *each: jnp.stack(each, 1), *members)
        return jax.tree.map(lambda leaf: leaf.reshape(*self.shape, *leaf.shape[1:]), stacked)

    def advance(self, epochs: int) -> None:
        """Train."""
        parts = [[minibatches(next(order), self.batch) for _ in range(epochs)] for order in self.orders]
        rows = np.stack([np.concatenate([rows for rows, _ in member]) for member in parts])
        present = np.concatenate([mask for _, mask in parts[0]])  # the same for all members
        rates = self.pace.next(len(present)).reshape(*self.shape, -1)
        self.state = _train(self.state, self.x, self.y, rows, present, rates, self.regular)

    def predict(self, x: np.ndarray) -> Moments:
        """Of every network, (splits, recipes, members, rows)."""
        return jax.tree.map(np.asarray, _predict(self.state.params, x))


def _scored_epochs(work: Effort, epochs: int, nets: Nets) -> Iterator[int]:
    """Train up to `epochs`, and give every epoch at which the networks are to be scored."""
    share = max(1, work.epochs // work.checks)
    for epoch in range(share, epochs + 1, share):
        nets.advance(share)
        yield epoch


def init(widths: tuple[int, ...], seeds: Sequence[int], recipes: int) -> State:
    """He weights and zero moments for (splits, recipes, members); all recipes of a split begin alike."""
    splits = [[he_init(widths, seed * MEMBERS + member) for member in range(MEMBERS)] for seed in seeds]
    shape = len(splits), recipes, MEMBERS

    def spread(*members: np.ndarray) -> Array:
        stacked = np.stack(members).reshape(shape[0], 1, MEMBERS, *members[0].shape)
        return jnp.asarray(np.broadcast_to(stacked, (*shape, *members[0].shape)))

    params = jax.tree.map(spread, *(member for split in splits for member in split))
    return State(params, adam.init(params)._replace(count=jnp.zeros(shape, jnp.int32)))


def forward(params: Any, x: Array, dropped: Dropped | None = None) -> Moments:
    """Mean and variance of every row."""
    out = adam_optax.forward(params, x, dropped)
    return Moments(out[..., 0], jax.nn.softplus(out[..., 1]) + LEAST_VAR)


def loss(params: Any, x: Array, y: Array, present: Array, dropped: Dropped | None = None) -> Array:
    """Mean of -log N(y; mean, var) over the rows that are present, without its constant."""
    mean, var = forward(params, x, dropped)
    return (present * (0.5 * jnp.log(var) + 0.5 * (y - mean) ** 2 / var)).sum() / present.sum()


def train(
    state: State, x: Array, y: Array, rows: Array, present: Array, rates: Array, regular: Regular | None = None
) -> State:
    """One step for every minibatch of `rows`, at one rate or at one for each."""

    def step(state: State, batch: tuple[Array, Array, Array]) -> tuple[State, None]:
        here, mask, rate = batch
        grads = jax.grad(loss)(state.params, x[here], y[here], mask, adam_optax.dropped_now(state, regular))
        return adam_optax.updated(state, grads, rate, regular), None

    return jax.lax.scan(step, state, (rows, present, jnp.broadcast_to(rates, len(rows))))[0]


def _nested(function: Any, members: Any, rates: Any, splits: Any) -> Any:
    """Over members, then recipes, then splits: which arguments have these axes."""
    return jax.vmap(jax.vmap(jax.vmap(function, members), rates), splits)


_train = jax.jit(
    _nested(train, (0, None, None, 0, None, None, 0), (0, None, None, None, None, 0, 0), (0, 0, 0, None, None, 0, 0)),
    donate_argnums=0,
)
_predict = jax.jit(_nested(forward, (0, None), (0, None), (0, 0)))
