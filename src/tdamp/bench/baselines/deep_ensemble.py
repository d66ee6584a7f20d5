"""A deep ensemble: five networks with an output for the mean and one for the variance, trained by Adam.

Member m says y ~ N(mean_m(x), var_m(x)) and is trained on this density alone; the prediction is the Gaussian that has
the moments of the members' mixture, as Lakshminarayanan, Pritzel and Blundell (2017) have it. No weight decay, no
adversarial rows. Tuned for each split on the last fifth of its training rows, which are left out, by the ensemble's log
score there: the learning rate, of four, and the number of epochs. Then trained anew on all of its training rows.

Splits, rates and members are trained together, and the seconds divided among the splits. Oracles: the integral of the
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

from ...beliefs import Moments
from ..uci.tasks import Answer, Gaussian, Task
from .adam_optax import State, adam
from .start import Orders, he_init, minibatches

MEMBERS = 5
LEAST_VAR = 1e-6
"""Added to a variance, as in the paper; targets have variance one."""
HELD_OUT = 0.2
"""Share of the training rows on which rate and epochs are chosen."""


class Effort(NamedTuple):
    """Epochs at most, looked at after equal shares of them, as often as `checks` says."""

    rates: tuple[float, ...]
    epochs: int
    checks: int
    batch: int


def effort(rows: int, quick: bool = False) -> Effort:
    """As many steps for small tables as for large ones, within reason: from 100 to 800 epochs."""
    if quick:
        return Effort((3e-3, 1e-2), 4, 2, 32)
    return Effort((1e-3, 3e-3, 1e-2, 3e-2), int(np.clip(400_000 // rows, 100, 800)), 40, 32 if rows < 2000 else 128)


def predict(tasks: Sequence[Task], quick: bool = False) -> Iterator[Answer]:
    """All tasks at once."""
    if not tasks:
        return
    started = time.perf_counter()
    work = effort(len(tasks[0].x), quick)
    x, y = np.stack([task.x for task in tasks]), np.stack([task.y for task in tasks])
    seeds, hidden = [task.split for task in tasks], tasks[0].hidden
    rate, epochs = choose(x, y, seeds, hidden, work)
    nets = Nets(x, y, seeds, hidden, rate[:, None], work.batch)
    x_test = np.stack([task.x_test for task in tasks])
    ends: dict[int, Gaussian] = {}
    for epoch in _looks(work, int(epochs.max()), nets):
        due = np.flatnonzero(epochs == epoch)
        if len(due):
            members = nets.predict(x_test)
            ends |= {int(i): mixture(members.mean[i, 0], members.var[i, 0]) for i in due}
    seconds = (time.perf_counter() - started) / len(tasks)
    for i in range(len(tasks)):
        yield Answer(ends[i], seconds, {"rate": float(rate[i]), "epochs": int(epochs[i])})


def choose(
    x: np.ndarray, y: np.ndarray, seeds: Sequence[int], hidden: int, work: Effort
) -> tuple[np.ndarray, np.ndarray]:
    """Rate and epochs for every split, (splits,) each: the best log score of its last rows, which were left out."""
    held_out = max(1, round(HELD_OUT * x.shape[1]))
    rates = np.array(work.rates, np.float32)
    nets = Nets(x[:, :-held_out], y[:, :-held_out], seeds, hidden, np.tile(rates, (len(x), 1)), work.batch)
    scores, epochs = [], []
    for epoch in _looks(work, work.epochs, nets):
        mean, var = (np.moveaxis(np.asarray(a), 2, 0) for a in nets.predict(x[:, -held_out:]))
        both = mixture(mean, var)
        z = (y[:, None, -held_out:] - both.mean) / both.std
        scores.append((-0.5 * z**2 - np.log(both.std)).mean(-1))
        epochs.append(epoch)
    flat = np.nan_to_num(np.stack(scores, -1), nan=-np.inf).reshape(len(x), -1)
    rate, look = np.divmod(flat.argmax(1), len(epochs))
    return rates[rate], np.array(epochs)[look]


def mixture(mean: ArrayLike, var: ArrayLike) -> Gaussian:
    """Mean and deviation of the equal mixture of N(mean_m, var_m), members along the first axis."""
    mean, var = np.asarray(mean, np.float64), np.asarray(var, np.float64)
    return Gaussian(mean.mean(0), np.sqrt(var.mean(0) + mean.var(0)))


class Nets:
    """Networks in training, (splits, rates, members); a member sees the rows in an order of its own."""

    def __init__(
        self, x: np.ndarray, y: np.ndarray, seeds: Sequence[int], hidden: int, rate: np.ndarray, batch: int
    ) -> None:
        self.x, self.y, self.rate, self.batch = jnp.asarray(x), jnp.asarray(y), jnp.asarray(rate), batch
        self.orders = [Orders(x.shape[1], seed=member) for member in range(MEMBERS)]
        self.state = init((x.shape[2], hidden, 2), seeds, rate.shape[1])

    def advance(self, epochs: int) -> None:
        """Train."""
        parts = [[minibatches(next(order), self.batch) for _ in range(epochs)] for order in self.orders]
        rows = np.stack([np.concatenate([rows for rows, _ in member]) for member in parts])
        present = np.concatenate([mask for _, mask in parts[0]])  # the same for all members
        self.state = _train(self.state, self.x, self.y, rows, present, self.rate)

    def predict(self, x: np.ndarray) -> Moments:
        """Of every network, (splits, rates, members, rows)."""
        return jax.tree.map(np.asarray, _predict(self.state.params, x))


def _looks(work: Effort, epochs: int, nets: Nets) -> Iterator[int]:
    """Train up to `epochs`, stopping at the epochs at which a look is due."""
    share = max(1, work.epochs // work.checks)
    for epoch in range(share, epochs + 1, share):
        nets.advance(share)
        yield epoch


def init(widths: tuple[int, ...], seeds: Sequence[int], rates: int) -> State:
    """He weights and zero moments for (splits, rates, members); all rates of a split begin alike."""
    splits = [[he_init(widths, seed * MEMBERS + member) for member in range(MEMBERS)] for seed in seeds]
    shape = len(splits), rates, MEMBERS

    def spread(*members: np.ndarray) -> Array:
        stacked = np.stack(members).reshape(shape[0], 1, MEMBERS, *members[0].shape)
        return jnp.asarray(np.broadcast_to(stacked, (*shape, *members[0].shape)))

    params = jax.tree.map(spread, *(member for split in splits for member in split))
    return State(params, adam.init(params)._replace(count=jnp.zeros(shape, jnp.int32)))


def forward(params: Any, x: Array) -> Moments:
    """Mean and variance of every row."""
    (w1, b1), (w2, b2) = params
    out = jax.nn.relu(x @ w1 + b1) @ w2 + b2
    return Moments(out[..., 0], jax.nn.softplus(out[..., 1]) + LEAST_VAR)


def loss(params: Any, x: Array, y: Array, present: Array) -> Array:
    """Mean of -log N(y; mean, var) over the rows that are present, without its constant."""
    mean, var = forward(params, x)
    return (present * (0.5 * jnp.log(var) + 0.5 * (y - mean) ** 2 / var)).sum() / present.sum()


def train(state: State, x: Array, y: Array, rows: Array, present: Array, rate: Array) -> State:
    """One Adam step for every minibatch of `rows`."""

    def step(state: State, batch: tuple[Array, Array]) -> tuple[State, None]:
        here, mask = batch
        updates, moments = adam.update(jax.grad(loss)(state.params, x[here], y[here], mask), state.moments)
        return State(jax.tree.map(lambda p, u: p - rate * u, state.params, updates), moments), None

    return jax.lax.scan(step, state, (rows, present))[0]


def _nested(function: Any, members: Any, rates: Any, splits: Any) -> Any:
    """Over members, then rates, then splits: which arguments have these axes."""
    return jax.vmap(jax.vmap(jax.vmap(function, members), rates), splits)


_train = jax.jit(
    _nested(train, (0, None, None, 0, None, None), (0, None, None, None, None, 0), (0, 0, 0, None, None, 0)),
    donate_argnums=0,
)
_predict = jax.jit(_nested(forward, (0, None), (0, None), (0, 0)))
