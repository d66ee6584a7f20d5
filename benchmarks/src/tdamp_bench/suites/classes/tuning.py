"""Adam's recipe and epochs for the best class probabilities: one network's, and those of an ensemble.

Chosen on the validation rows (the last 10,000 of a seeded permutation of the training rows, as in the accuracy
benchmark), trained on the others: the rate and the epoch of least NLL, for one network by the mean over the members,
for the ensemble by the mean of their probabilities. An ensemble gains from members that are trained longer.

AdamW with cosine decay has a schedule, so that its epochs are tdamp's; its rate, weight decay and dropout are chosen
alike, among six.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import jax.numpy as jnp
import numpy as np

from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...core.scoring import nll
from ...methods.baselines.adam import Adam
from ...methods.baselines.recipe import Recipe
from ...methods.baselines.strong_grids import STRONG
from .plan import Plan

LIBRARY = "optax"


class Choice(NamedTuple):
    """How an Adam is trained."""

    rate: float
    epochs: int
    weight_decay: float = 0.0
    dropout: float = 0.0
    cosine: bool = False
    input_dropout: float = 0.0

    @property
    def recipe(self) -> Recipe:
        """All but the epochs."""
        return Recipe(self.rate, self.weight_decay, self.dropout, self.cosine, self.input_dropout)


def widths_of(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Inputs, hidden layers, one output per class."""
    return (problem.x.shape[1], *plan.hidden, int(problem.y.max()) + 1)


def tune(problem: Problem, plan: Plan, tick: Tick = silent) -> dict[str, Any]:
    """Validation NLL by rate and epoch, alone and together, and what is best."""
    held_out = one_copy(problem.validation(plan.validation_rows))
    alone, together = {}, {}
    for rate in plan.rates:
        alone[rate], together[rate] = curves(held_out, plan, rate)
        tick(f"Adam's rate {rate:g} on validation rows")
    return {
        "by": f"validation NLL on {plan.validation_rows} training rows, {plan.members} members",
        "one": _least(alone)._asdict(),
        "ensemble": _least(together)._asdict(),
        "one_nll": {f"{rate:g}": curve for rate, curve in alone.items()},
        "ensemble_nll": {f"{rate:g}": curve for rate, curve in together.items()},
    }


def tune_strong(problem: Problem, plan: Plan, tick: Tick = silent) -> dict[str, Any]:
    """Validation NLL by AdamW's recipe after the last epoch, alone and together, and what is best."""
    held_out = one_copy(problem.validation(plan.validation_rows))
    ends = {}
    for recipe in STRONG["mnist"]:
        alone, together = curves(held_out, plan, recipe, plan.epochs)
        ends[recipe] = {"one": alone[-1], "ensemble": together[-1]}
        tick(f"AdamW, {recipe}, on validation rows")
    kinds = ("one", "ensemble")
    best = {kind: min(ends, key=lambda recipe: ends[recipe][kind]) for kind in kinds}
    chosen = {kind: Choice(epochs=plan.epochs, **recipe._asdict())._asdict() for kind, recipe in best.items()}
    scores = {f"{kind}_nll": {str(recipe): end[kind] for recipe, end in ends.items()} for kind in kinds}
    return {"by": f"validation NLL on {plan.validation_rows} training rows, {plan.members} members", **chosen, **scores}


def curves(
    problem: Problem, plan: Plan, recipe: float | Recipe, epochs: int | None = None
) -> tuple[list[float], list[float]]:
    """Mean NLL of the members, and the NLL of their mean probabilities, by epoch.

    Without a number of epochs, until both have passed their best.
    """
    widths, most = widths_of(problem, plan), epochs or plan.adam_epochs
    members = [Adam(LIBRARY, problem, widths, recipe, plan.batch, seed, most) for seed in range(plan.members)]
    alone: list[float] = []
    together: list[float] = []
    for _ in range(most):
        for member in members:
            member.epoch()
        probs = [member.predictive(problem.x_test) for member in members]
        alone.append(float(np.mean([nll(one, problem.y_test) for one in probs])))
        together.append(nll(np.mean(probs, axis=0), problem.y_test))
        past = all(len(curve) - np.argmin(curve) > plan.adam_patience for curve in (alone, together))
        if past and epochs is None:
            break
    return alone, together


def one_copy(problem: Problem) -> Problem:
    """The training rows on the device, where several networks share them."""
    x, y = (cast(np.ndarray, jnp.asarray(rows)) for rows in (problem.x, problem.y))
    return replace(problem, x=x, y=y)


def _least(by_rate: dict[float, list[float]]) -> Choice:
    rate = min(by_rate, key=lambda rate: min(by_rate[rate]))
    return Choice(rate, int(np.argmin(by_rate[rate])) + 1)
