"""Many small Adams at once: splits and learning rates as batch axes of one jitted epoch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...network import Task
from ..problems import Problem
from ..scoring import nmse
from . import adam_optax
from .start import Orders, minibatches


@partial(jax.jit, static_argnums=0)
def _epoch(task: Task, states: Any, x: Any, y: Any, rows: Any, present: Any, rates: Any, x_test: Any) -> Any:
    one = partial(adam_optax.scan_epoch, task)
    by_rate = jax.vmap(one, in_axes=(0, None, None, None, None, 0))
    states = jax.vmap(by_rate, in_axes=(0, 0, 0, 0, None, None))(states, x, y, rows, present, rates)
    out = jax.vmap(jax.vmap(adam_optax.forward, in_axes=(0, None)))(states.params, x_test)
    return states, out


def nmse_curves(
    problems: Sequence[Problem], widths: tuple[int, ...], rates: Sequence[float], batch: int, epochs: int
) -> np.ndarray:
    """Test NMSE of Adam, (splits, rates, epochs); split k starts from seed k, all splits have one shape."""
    x, y, x_test = (jnp.stack([getattr(problem, name) for problem in problems]) for name in ("x", "y", "x_test"))
    starts = [adam_optax.init(widths, seed) for seed in range(len(problems))]
    states = jax.tree.map(lambda *leaves: jnp.stack([jnp.stack([leaf] * len(rates)) for leaf in leaves]), *starts)
    orders = [Orders(len(problem.x), seed) for seed, problem in enumerate(problems)]
    curves = np.empty((len(problems), len(rates), epochs))
    for epoch in range(epochs):
        batches = [minibatches(next(order), batch) for order in orders]
        rows, present = np.stack([rows for rows, _ in batches]), batches[0][1]
        states, out = _epoch(problems[0].task, states, x, y, rows, present, jnp.asarray(rates, jnp.float32), x_test)
        for k, problem in enumerate(problems):
            for j in range(len(rates)):
                curves[k, j, epoch] = nmse(np.asarray(out[k, j]), problem.y_test, problem.y)
    return curves
