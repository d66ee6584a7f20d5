"""Many small Adams at once: splits and recipes as batch axes of one jitted epoch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tdamp.engine.network import Task

from ...core.problems import Problem
from ...core.scoring import nmse
from . import adam_optax
from .recipe import Recipe
from .start import Orders, minibatches


@partial(jax.jit, static_argnums=0)
def _epoch(task: Task, states: Any, data: Any, batches: Any, rates: Any, regular: Any, x_test: Any) -> Any:
    """One epoch of every split and recipe, and the outputs of the test rows after it."""
    (x, y), (rows, present) = data, batches
    one = partial(adam_optax.scan_epoch, task)
    by_recipe = jax.vmap(one, in_axes=(0, None, None, None, None, 0, 0))
    states = jax.vmap(by_recipe, in_axes=(0, 0, 0, 0, None, None, 0))(states, x, y, rows, present, rates, regular)
    out = jax.vmap(jax.vmap(adam_optax.forward, in_axes=(0, None)))(states.params, x_test)
    return states, out


def nmse_curves(
    problems: Sequence[Problem], widths: tuple[int, ...], recipes: Sequence[float | Recipe], batch: int, epochs: int
) -> np.ndarray:
    """Test NMSE of Adam, (splits, recipes, epochs); split k starts from seed k, all splits have one shape."""
    x, y, x_test = (jnp.stack([getattr(problem, name) for problem in problems]) for name in ("x", "y", "x_test"))
    known = [Recipe.of(recipe) for recipe in recipes]
    starts = [adam_optax.init(widths, seed) for seed in range(len(problems))]
    states = jax.tree.map(lambda *leaves: jnp.stack([jnp.stack([leaf] * len(known)) for leaf in leaves]), *starts)
    each = [adam_optax.regular_of(known, [seed] * len(known)) for seed in range(len(problems))]
    regular = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    pace = adam_optax.Pace(known, adam_optax.n_steps(x.shape[1], batch, epochs))
    orders = [Orders(len(problem.x), seed) for seed, problem in enumerate(problems)]
    curves = np.empty((len(problems), len(known), epochs))
    for epoch in range(epochs):
        batches = [minibatches(next(order), batch) for order in orders]
        rows, present = np.stack([rows for rows, _ in batches]), batches[0][1]
        rates = pace.next(len(present))
        states, out = _epoch(problems[0].task, states, (x, y), (rows, present), rates, regular, x_test)
        for k, problem in enumerate(problems):
            for j in range(len(known)):
                curves[k, j, epoch] = nmse(np.asarray(out[k, j]), problem.y_test, problem.y)
    return curves
