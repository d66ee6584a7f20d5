"""Calibration under shift: intervals and class probabilities as the test rows move away from what was learned.

Regression: the first Friedman function of inputs in [0, 1]^5, tested on [delta, 1 + delta]^5. Classes: part of MNIST,
tested on digits that are turned, or have noise added. Contenders and scores are those of `tdamp bench uci`
and `tdamp bench classes`; AdamW chooses among six recipes on validation rows, for digits those of the latter.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from rich.console import Console

from tdamp import metrics

from ..core import problems
from ..core.problems import Problem
from ..figures.options import Options
from ..methods.baselines.recipe import strong
from ..suites.classes import contenders, shifts, tuning
from ..suites.classes.plan import Plan as Classes
from ..suites.classes.scores import BINS, shifted
from ..suites.uci import methods
from ..suites.uci.scores import score
from ..suites.uci.tasks import Answer, Gaussian, Peer, Task, standardised
from .shift_conclusions import STYLES, conclusions, panels, places
from .shift_plan import QUICK, Plan
from .study import Arm, Numbers, Study, summary

TITLE = "Calibration under shift"
NAME = "shift"

NOISE_STD = 1.0
REGRESSORS = ("tdamp", "ensemble", "laplace", "ensemble_adamw")
CLASSIFIERS = {
    "tdamp": "tdamp",
    "ensemble": "ensemble",
    "laplace": "laplace_mc",
    "adamw": "adamw",
    "ensemble_adamw": "ensemble_adamw",
}
"""Families, and which of a family's contenders is shown."""
STRONG = ("adamw", "ensemble_adamw")
"""With cosine decay, weight decay and dropout."""
RECIPES = tuple(
    strong(rate, decay, drop) for rate in (3e-3, 1e-2) for decay, drop in ((0.01, 0.0), (0.1, 0.05), (0.3, 0.1))
)
"""AdamW's for the regression; the number of epochs is chosen with them, as for the plain ensemble."""


def run(options: Options, console: Console) -> None:
    """Measure what is missing, then draw and judge."""
    plan = QUICK if options.quick else Plan()
    study = Study(NAME, options, console, plan.most_seeds)
    arms = [Arm("friedman1", method) for method in REGRESSORS] + [Arm("mnist", family) for family in CLASSIFIERS]
    runs = study.measured(arms, lambda arm, seed: measured(arm, seed, plan))
    points = summary(runs)
    study.publish(points, panels(points, plan), conclusions(runs, plan), {"shifts": places(plan)}, STYLES)


def measured(arm: Arm, seed: int, plan: Plan) -> Numbers:
    """Scores by size of the shift."""
    return regression(arm.method, seed, plan) if arm.data == "friedman1" else classification(arm.method, seed, plan)


def friedman(x: np.ndarray) -> np.ndarray:
    """10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4, anywhere."""
    return 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


def regression(method: str, seed: int, plan: Plan) -> dict[str, list[float]]:
    """RMSE, NLL, coverage and width of 95 % intervals by delta."""
    rng = np.random.default_rng(seed)

    def rows(count: int, delta: float) -> tuple[np.ndarray, np.ndarray]:
        x = delta + rng.random((count, 5))
        return x, friedman(x) + NOISE_STD * rng.standard_normal(count)

    x, y = rows(plan.rows, 0.0)
    tests = [rows(plan.test_rows, delta) for delta in plan.deltas]
    task = Task(seed, plan.hidden, x, y, np.concatenate([x for x, _ in tests]))
    (answer,) = _peer(method)([task], len(y) < 200)
    scored = []
    for i, (x_part, y_part) in enumerate(tests):
        part = slice(i * plan.test_rows, (i + 1) * plan.test_rows)
        scored.append(score(Answer(_part(answer.predictive, x_part, part), answer.seconds), y_part))
    return {name: [float(one[name]) for one in scored] for name in ("rmse", "nll", "coverage", "width")}


def _peer(method: str) -> Peer:
    """That of `tdamp bench uci`; AdamW with its own recipes alone."""
    if method not in STRONG:
        return methods.METHODS[method].peer()
    from ..methods.baselines import deep_ensemble

    return standardised(partial(deep_ensemble.predict, recipes=RECIPES))


def _part(predictive: Any, x: np.ndarray, part: slice) -> Any:
    """The predictive distribution of some of its rows."""
    if isinstance(predictive, Gaussian):
        return Gaussian(predictive.mean[part], predictive.std[part])
    return methods.Fitted(predictive.model, x)


@cache
def _tuned(classes: Classes, has_schedule: bool) -> tuple[Problem, dict[str, Any]]:
    problem = problems.mnist(classes.rows, classes.test_rows)
    return problem, (tuning.tune_strong if has_schedule else tuning.tune)(problem, classes)


def classification(family: str, seed: int, plan: Plan) -> dict[str, list[float]]:
    """Error, NLL, ECE and mean entropy of turned and of noisy digits."""
    problem, tuned = _tuned(plan.classes, family in STRONG)
    probs = contenders.FAMILIES[family](problem, plan.classes, tuned, seed)[CLASSIFIERS[family]].probs
    rng = np.random.default_rng(seed)
    x, y = np.asarray(problem.x_test), problem.y_test
    turned = [shifts.turned(x, angle) for angle in plan.angles]
    noisy = [np.clip(x + s * rng.standard_normal(x.shape), 0, 1).astype(np.float32) for s in plan.noises]
    scored: dict[str, list[float]] = {}
    for kind, sets in (("turned", turned), ("noisy", noisy)):
        probabilities = [probs(rows) for rows in sets]
        each = [shifted(y, there) | {"ece": metrics.ece(y, there, BINS)} for there in probabilities]
        scored |= {f"{kind} {name}": [one[name] for one in each] for name in each[0]}
    return scored
