"""The methods: tdamp, Adam (as it is, and with a temperature), AdamW, ensembles of either, and Laplace on an Adam.

All train on all training rows, with settings that were chosen before on validation rows: tdamp with the preset of the
accuracy benchmark, and as `our_tuning` found; Adam as `tuning` found. The temperature is that of the same network
trained without the validation rows, found on them. Seconds leave out compilation (every method trains for an epoch
before the clock starts) and the search for settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from tdamp.engine.settings import Settings

from ...core.problems import Problem
from ...methods import tdamp as ours
from ...methods.baselines.adam import Adam
from ...methods.baselines.start import Params
from ...methods.baselines.temperature import fit_temperature, scaled
from .our_tuning import choices, preset
from .plan import Plan
from .scores import Probs
from .timed import Seconds, timed
from .tuning import LIBRARY, Choice, one_copy, widths_of

LABELS = {
    "tdamp": "tdamp",
    "tdamp_tuned": "tdamp, tuned for NLL",
    "adam": "Adam",
    "adam_temperature": "Adam, temperature scaled",
    "adamw": "AdamW, cosine decay, dropout",
    "ensemble": "ensemble of Adams",
    "ensemble_adamw": "ensemble of AdamWs",
    "laplace_probit": "Laplace on Adam, probit",
    "laplace_mc": "Laplace on Adam, samples",
}
"""For people."""


@dataclass(frozen=True)
class Contender:
    """A trained method."""

    probs: Probs
    seconds: Seconds
    notes: dict[str, Any] = field(default_factory=dict)


Contenders = dict[str, Contender]


def tdamp(problem: Problem, plan: Plan, tuned: dict[str, Any], seed: int) -> Contenders:
    """The preset of the accuracy benchmark."""
    return {"tdamp": trained_ours(problem, plan, preset(plan), seed)}


def tdamp_tuned(problem: Problem, plan: Plan, tuned: dict[str, Any], seed: int) -> Contenders:
    """What the validation rows liked best."""
    return {"tdamp_tuned": trained_ours(problem, plan, choices(plan)[tuned["chosen"]], seed)}


def adam(problem: Problem, plan: Plan, tuned: dict[str, Any], seed: int) -> Contenders:
    """One network, as it is and with its temperature."""
    choice = Choice(**tuned["one"])
    model, seconds = trained_adam(problem, plan, choice, seed)
    held_out = problem.validation(plan.validation_rows)
    inner, more = trained_adam(held_out, plan, choice, seed)
    temperature = fit_temperature(inner.point(held_out.x_test), held_out.y_test)
    return {
        "adam": Contender(model.predictive, seconds, choice._asdict()),
        "adam_temperature": Contender(
            lambda x: scaled(model.point(x), temperature), seconds + more, {"temperature": temperature}
        ),
    }


def adamw(problem: Problem, plan: Plan, tuned: dict[str, Any], seed: int) -> Contenders:
    """One network, trained with cosine decay, weight decay and dropout."""
    choice = Choice(**tuned["one"])
    model, seconds = trained_adam(problem, plan, choice, seed)
    return {"adamw": Contender(model.predictive, seconds, choice._asdict())}


def ensemble(problem: Problem, plan: Plan, tuned: dict[str, Any], seed: int, name: str = "ensemble") -> Contenders:
    """The mean of the members' probabilities. One after the other: on a CPU vmap makes them no faster."""
    choice = Choice(**tuned["ensemble"])
    shared = one_copy(problem)
    members = [trained_adam(shared, plan, choice, member) for member in member_seeds(seed, plan.members)]
    models = [model for model, _ in members]
    seconds = sum((spent for _, spent in members), Seconds(0, 0))
    notes = choice._asdict() | {"members": plan.members}
    return {name: Contender(lambda x: mean_probs(models, x), seconds, notes)}


def laplace(problem: Problem, plan: Plan, tuned: dict[str, Any], seed: int) -> Contenders:
    """On the weights of the Adam of the same seed."""
    from ...methods.baselines.adam_optax import Learner
    from ...methods.baselines.laplace_classes import Laplace

    model, seconds = trained_adam(problem, plan, Choice(**tuned["one"]), seed)
    params: Params = cast(Learner, model.learner).state.params
    fitted, more = timed(lambda: Laplace(params, problem, plan.laplace_samples, seed))
    notes = {"prior_precision": fitted.prior_precision}
    return {
        "laplace_probit": Contender(lambda x: fitted.predictive(x, "probit"), seconds + more, notes),
        "laplace_mc": Contender(
            lambda x: fitted.predictive(x, "mc"), seconds + more, notes | {"samples": plan.laplace_samples}
        ),
    }


def trained_ours(problem: Problem, plan: Plan, settings: Settings, seed: int) -> Contender:
    """tdamp's predictive distribution."""
    widths = widths_of(problem, plan)

    def train(epochs: int) -> ours.Ours:
        return ours.train(problem, widths, replace(settings, max_epochs=epochs), seed, lambda *_: None)

    train(1)
    model, seconds = timed(lambda: train(settings.max_epochs))
    notes = {"settings": str(settings), "outcome": str(model.fitted.outcome)}
    return Contender(model.predictive, seconds, notes)


Family = Callable[[Problem, Plan, dict[str, Any], int], Contenders]
FAMILIES: dict[str, Family] = {
    "tdamp": tdamp,
    "tdamp_tuned": tdamp_tuned,
    "adam": adam,
    "adamw": adamw,
    "ensemble": ensemble,
    "ensemble_adamw": partial(ensemble, name="ensemble_adamw"),
    "laplace": laplace,
}
"""Methods that share a training."""


def trained_adam(problem: Problem, plan: Plan, choice: Choice, seed: int) -> tuple[Adam, Seconds]:
    """An Adam after its epochs."""

    def train(epochs: int) -> Adam:
        model = Adam(LIBRARY, problem, widths_of(problem, plan), choice.recipe, plan.batch, seed, epochs)
        for _ in model.epochs(epochs):
            pass
        return model

    train(1)
    return timed(lambda: train(choice.epochs))


def member_seeds(seed: int, members: int) -> range:
    """Seeds of an ensemble's members, no two ensembles sharing any."""
    return range(seed * members, (seed + 1) * members)


def mean_probs(models: Sequence[Any], x: np.ndarray) -> np.ndarray:
    """Mean over models of their class probabilities."""
    return np.mean([model.predictive(x) for model in models], axis=0)
