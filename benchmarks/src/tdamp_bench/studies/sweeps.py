"""What do several sweeps and the Onsager term buy over one sweep, an online Bayesian filter, at equal compute?

A minibatch is swept once, or several times with messages that are passed on. Sweeps times epochs are the same for all
(`compute`), or the epochs are (`epochs`). Networks of one hidden layer; the noise is held at its true variance, so that
no arm gains from more updates of it; the data weight grows to its end over the epochs, and where it ends is chosen for
each arm by the NLL of validation rows.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.factors.layers.base import Linear
from tdamp.training.fit import fit

from ..core.problems import Problem
from ..core.record import Verdict
from ..figures import draw
from ..figures.margins import with_error
from ..figures.options import Options
from ..figures.publish import Conclusion
from ..figures.tidy import pick
from .engine import replaced, scores, without_onsager
from .rows import digits, regression
from .study import Arm, Numbers, Study, paired, summary

TITLE = "Sweeps and the Onsager term at equal compute"
NAME = "sweeps"

CLASS_NOISE = 0.2
TEST_ROWS, VALIDATION_ROWS = 2000, 500


class Task(NamedTuple):
    """What is learned, by what network, in batches of what size."""

    title: str
    hidden: int
    batch: int


TASKS = {
    "friedman1": Task("friedman1, batches of 25", 32, 25),
    "friedman1-whole": Task("friedman1, batches of 400", 32, 400),
    "planted": Task("a planted network, batches of 25", 16, 25),
    "digits": Task("digits, batches of 50", 32, 50),
}


class Plan(NamedTuple):
    """Sizes; a quick run's figures mean nothing."""

    compute: int = 48
    rows: int = 400
    digit_rows: int = 800
    sweeps: tuple[int, ...] = (1, 2, 3, 4)
    ends: tuple[float, ...] = (2.0, 8.0)
    """Data weights at the end of training, of which validation rows choose."""
    tasks: tuple[str, ...] = tuple(TASKS)
    most_seeds: int = 5


QUICK = Plan(12, 100, 200, (1, 2), (4.0,), ("friedman1", "digits"))


def run(options: Options, console: Console) -> None:
    """Measure what is missing, then draw and judge."""
    plan = QUICK if options.quick else Plan()
    study = Study(NAME, options, console, plan.most_seeds)
    runs = study.measured(arms(plan), lambda arm, seed: trained(arm, seed, plan))
    chosen = choose(runs)
    points = summary(chosen)
    study.publish(points, panels(points, plan), conclusions(chosen, plan), {"plan": plan._asdict()})


def arms(plan: Plan) -> list[Arm]:
    """Each number of sweeps with and without the Onsager term, at equal compute and at equal epochs."""
    listed = []
    for data in plan.tasks:
        for sweeps in plan.sweeps:
            for method in ("onsager", "no_onsager") if sweeps > 1 else ("onsager",):
                for epochs in sorted({plan.compute // sweeps, plan.compute // plan.sweeps[-1]}):
                    for end in plan.ends:
                        listed.append(Arm(data, method, {"sweeps": sweeps, "epochs": epochs, "data_weight": end}))
    return listed


def problem(name: str, plan: Plan, seed: int) -> tuple[Problem, float]:
    """Rows to learn from and to test on, the first VALIDATION_ROWS of which choose; and the noise variance."""
    if name == "digits":
        return digits(10, plan.digit_rows, seed), CLASS_NOISE
    return regression(name == "planted", plan.rows, VALIDATION_ROWS + TEST_ROWS, seed)


def trained(arm: Arm, seed: int, plan: Plan) -> Numbers:
    """Validation NLL; test NLL and loss; and how often a layer's step was held back, a minibatch."""
    task, (rows, noise) = TASKS[arm.data], problem(arm.data, plan, seed)
    config: dict[str, Any] = dict(arm.config)
    outputs = 10 if rows.task == "classification" else 1
    network = Network((rows.x.shape[1], task.hidden, outputs), rows.task)
    scale = float(rows.y.var()) if rows.task == "regression" else 1.0
    settings = Settings(
        max_epochs=config["epochs"],
        batch_size=min(task.batch, len(rows.x)),
        sweeps=config["sweeps"],
        data_weight=tuple(np.linspace(1, config["data_weight"], config["epochs"]).tolist()),
        noise_update="fixed",
        noise_init=noise / scale,
    )
    without = arm.method == "no_onsager"
    with replaced(Linear, "forward", without_onsager) if without else nullcontext():
        fitted = fit(network, rows.x, rows.y, settings, seed=seed)
    held = len(rows.x_test) // 5 if rows.task == "classification" else VALIDATION_ROWS
    test = scores(fitted, rows.x_test[held:], rows.y_test[held:])
    return {"validation": scores(fitted, rows.x_test[:held], rows.y_test[:held])["nll"]} | test


def choose(runs: pd.DataFrame) -> pd.DataFrame:
    """Of each arm the data weight whose mean validation NLL is least."""
    by = ["data", "method", "sweeps", "epochs"]
    validation = pick(runs, number="validation").groupby([*by, "data_weight"], sort=False)["value"].mean()
    best = validation.reset_index().sort_values("value").drop_duplicates(by)[[*by, "data_weight"]]
    return runs.merge(best)


def arm_of(runs: pd.DataFrame, data: str, method: str, sweeps: int, epochs: int, number: str) -> pd.DataFrame:
    """One value a seed."""
    return pick(runs, data=data, method=method, sweeps=sweeps, epochs=epochs, number=number)


def panels(points: pd.DataFrame, plan: Plan) -> list[draw.Panel]:
    """Test NLL by sweeps, a panel a task."""
    drawn = []
    for data in plan.tasks:
        lines = []
        for method, word in (("onsager", "with"), ("no_onsager", "without")):
            for basis in ("compute", "epochs"):
                cells = [
                    pick(points, data=data, number="nll", sweeps=s, epochs=epochs_of(basis, s, plan))
                    for s in plan.sweeps
                ]  # fmt: skip
                cells = [
                    pick(c, method=method if s > 1 else "onsager") for s, c in zip(plan.sweeps, cells, strict=True)
                ]
                mean, se = ([float(c[column].iloc[0]) for c in cells] for column in ("mean", "se"))
                label = f"{word} the Onsager term, equal {basis}"
                lines.append(draw.Line(f"{method} {basis}", label, plan.sweeps, mean, se))
        drawn.append(draw.Panel(TASKS[data].title, "sweeps", "test NLL", lines, log_y=False, x_ticks=plan.sweeps))
    return drawn


def epochs_of(basis: str, sweeps: int, plan: Plan) -> int:
    """Epochs of an arm at equal compute, or at equal epochs."""
    return plan.compute // (sweeps if basis == "compute" else plan.sweeps[-1])


def conclusions(runs: pd.DataFrame, plan: Plan) -> list[Conclusion]:
    """Several sweeps against one, at equal compute and at equal epochs; and with against without the Onsager term."""
    concluded = []
    for data in plan.tasks:
        for basis in ("compute", "epochs"):
            one = arm_of(runs, data, "onsager", 1, epochs_of(basis, 1, plan), "nll")
            gaps = {
                s: paired(arm_of(runs, data, "onsager", s, epochs_of(basis, s, plan), "nll"), one)
                for s in plan.sweeps[1:]
            }
            texts = [f"{s} sweeps {with_error(*gap, '+.2g')}" for s, gap in gaps.items()]
            best = max(-gap / se for gap, se in gaps.values())
            concluded.append(
                Conclusion(
                    Verdict(
                        f"{TASKS[data].title}, equal {basis}: best gain of several sweeps in NLL, in SE", best, ">=", 2
                    ),
                    f"{TASKS[data].title}, equal {basis}: test NLL against one sweep's {one['value'].mean():.3g}: "
                    f"{', '.join(texts)}.",
                )
            )
        gaps = {
            s: paired(*(arm_of(runs, data, m, s, plan.compute // s, "nll") for m in METHODS)) for s in plan.sweeps[1:]
        }
        texts = [f"{s} sweeps {with_error(*gap, '+.2g')}" for s, gap in gaps.items()]
        best = max(-gap / se for gap, se in gaps.values())
        concluded.append(
            Conclusion(
                Verdict(f"{TASKS[data].title}: best gain of the Onsager term in NLL, in SE", best, ">=", 2),
                f"{TASKS[data].title}: the Onsager term changes the test NLL by {', '.join(texts)}.",
            )
        )
    return concluded


METHODS = ("onsager", "no_onsager")
