"""tdamp's settings for the best class probabilities, as Adam's are chosen: by the NLL of the validation rows.

How fast the data weight grows decides: a slow growth keeps weights open for longer. And whether the noise is learned
or held. Some 25 variants were tried on the same validation rows before these few were left; test rows chose nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tdamp import metrics
from tdamp.engine.settings import Settings

from ...core import presets
from ...core.problems import Problem
from ...core.progress import Tick, silent
from ...methods import tdamp
from .plan import Plan
from .tuning import widths_of

TOP = 12.0
"""Where a slow growth of the data weight ends, if the epochs last so long."""
SEEDS = (0, 1)


class Candidate(NamedTuple):
    """`pace`: by how much the data weight grows in an epoch; `noise`: the variance it is held at, None to learn it."""

    pace: float
    noise: float | None


CANDIDATES = tuple(Candidate(pace, noise) for noise in (None, 0.2) for pace in (0.3, 0.4, 0.5))
"""Beside the preset itself."""


def preset(plan: Plan) -> Settings:
    """The accuracy benchmark's."""
    return replace(presets.MNIST, batch_size=plan.batch, max_epochs=plan.epochs)


def choices(plan: Plan) -> dict[str, Settings]:
    """All that is tried, by name: the accuracy benchmark's two presets among them."""
    slow = {_name(one): _settings(one, plan) for one in CANDIDATES}
    return {"preset": preset(plan), "annealed": presets.annealed(plan.epochs)} | slow


def _name(candidate: Candidate) -> str:
    noise = "noise learned" if candidate.noise is None else f"noise {candidate.noise:g}"
    return f"pace {candidate.pace:g}, {noise}"


def _settings(candidate: Candidate, plan: Plan) -> Settings:
    steps = round(TOP / candidate.pace)
    slow = replace(preset(plan), data_weight=tuple(round(candidate.pace * k, 6) for k in range(1, steps + 1)))
    return slow if candidate.noise is None else replace(slow, noise_update="fixed", noise_init=candidate.noise)


def tune_ours(problem: Problem, plan: Plan, tick: Tick = silent) -> dict[str, Any]:
    """Validation scores of every choice after its last epoch, means over the seeds, and the name of the best."""
    held_out = problem.validation(plan.validation_rows)
    means = {}
    for name, settings in choices(plan).items():
        runs = [_scores(held_out, widths_of(problem, plan), settings, seed) for seed in SEEDS]
        means[name] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        tick(f"tdamp on validation rows, {name}")
    return {
        "by": f"validation NLL on {plan.validation_rows} training rows, mean of {len(SEEDS)} seeds",
        "chosen": min(means, key=lambda name: means[name]["nll"]),
        "validation": means,
    }


def _scores(problem: Problem, widths: tuple[int, ...], settings: Settings, seed: int) -> dict[str, float]:
    probs = tdamp.train(problem, widths, settings, seed, lambda *_: None).predictive(problem.x_test)
    y = problem.y_test
    return {
        "error": metrics.error_rate(y, probs),
        "nll": -metrics.class_log_score(y, probs),
        "ece": metrics.ece(y, probs),
    }
