"""One EP sweep over the probit product against the exact integral: how far off are the moments, and does it matter?

States are moments of the class scores: random ones, and those that training rows have in a network that has learned
scikit-learn's digits for one or ten epochs. Then a network is trained with either.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import jax
import numpy as np
import pandas as pd
from rich.console import Console

from tdamp.engine.network import Network
from tdamp.engine.settings import Settings
from tdamp.factors.likelihoods.probit import Probit
from tdamp.numerics.beliefs import Moments
from tdamp.training.fit import fit

from ..core.record import Verdict
from ..figures import draw
from ..figures.margins import with_error
from ..figures.options import Options
from ..figures.publish import Conclusion
from ..figures.tidy import pick
from . import exact_probit
from .engine import moments_of, replaced, scores
from .rows import digits
from .study import Arm, Numbers, Study, paired, summary

TITLE = "One EP sweep of the probit output against quadrature"
NAME = "probit-sweep"

DIGITS = 10
"""The digits have no more classes: larger numbers are random states only."""
SMALL = 0.05
"""A relative error of the variance up to which one sweep is called good enough."""
NUMBERS = {
    "label_mean": "label's mean, in posterior deviations",
    "label_var": "label's variance",
    "rival_mean": "rivals' means, in posterior deviations",
    "rival_var": "rivals' variances",
    "score": "scores",
    "prec": "score precisions",
}


class Plan(NamedTuple):
    """Sizes; a quick run's figures mean nothing."""

    states: int = 500
    epochs: tuple[int, ...] = (1, 10)
    rows: int = 1000
    training: int = 20
    classes: tuple[int, ...] = (2, 5, 10, 50)


QUICK = Plan(100, (1,), 300, 3, (2, 10))


def run(options: Options, console: Console) -> None:
    """Measure what is missing, then draw and judge."""
    plan = QUICK if options.quick else Plan()
    study = Study(NAME, options, console)
    arms = [Arm("random states", "sweep", {"classes": k, "epochs": 0}) for k in plan.classes]
    arms += [
        Arm("digits", "sweep", {"classes": k, "epochs": e}) for e in plan.epochs for k in plan.classes if k <= DIGITS
    ]
    errors = study.measured(arms, lambda arm, seed: sweep_errors(arm, seed, plan))
    whole = [Arm("training", method, {"classes": DIGITS, "epochs": plan.training}) for method in ("sweep", "exact")]
    trained = study.measured(whole, lambda arm, seed: training(arm, seed, plan))
    points = summary(pd.concat([errors, trained]))
    study.publish(points, panels(points, plan), conclusions(points, trained, plan), {"plan": plan._asdict()})


def states(arm: Arm, seed: int, plan: Plan) -> tuple[Moments, np.ndarray, np.ndarray]:
    """Moments of the class scores, labels, and the noise variance."""
    classes, epochs = int(arm.config["classes"]), int(arm.config["epochs"])
    rng = np.random.default_rng((seed, classes))
    if arm.data == "random states":
        mean = 2 * rng.standard_normal((plan.states, classes))
        var = 10 ** rng.uniform(-1, 1, (plan.states, classes))
        return _moments(mean, var), rng.integers(classes, size=plan.states), np.ones(())
    problem = digits(classes, plan.rows, seed)
    network = Network((64, 32, classes), "classification")
    fitted = fit(network, problem.x, problem.y, Settings(max_epochs=epochs), seed=seed)
    some = rng.permutation(len(problem.x))[: plan.states]
    z = moments_of(network, fitted.state.layers, problem.x[some])
    return z, problem.y[some], np.asarray(fitted.state.noise_var)


def _moments(mean: Any, var: Any) -> Moments:
    """In float64, on the host."""
    return Moments(*(cast(jax.Array, np.asarray(a, np.float64)) for a in (mean, var)))


_exact = jax.jit(exact_probit.posterior)
_sweep = jax.jit(Probit().score)


def sweep_errors(arm: Arm, seed: int, plan: Plan) -> Numbers:
    """Errors of the sweep, of each of NUMBERS: mean absolute ones; for variances relative, and 95 % quantiles.

    Those of scores and precisions are sums of absolute errors over sums of absolute values: what the weights hear.
    """
    (mean, var), label, noise = states(arm, seed, plan)
    with jax.enable_x64(True):
        z = _moments(mean, var)
        noise = np.asarray(noise, np.float64)
        exact = jax.device_get(_exact(z, label, noise))
        score, prec = jax.device_get(_sweep(z, label, noise))
    updated = Moments(z.mean + z.var * score, z.var * (1 - z.var * prec))
    mean_error = np.abs(updated.mean - exact.mean) / np.sqrt(exact.var)
    var_error = updated.var / exact.var - 1
    is_label = np.arange(z.mean.shape[1]) == label[:, None]
    true_score, true_prec = (exact.mean - z.mean) / z.var, (1 - exact.var / z.var) / z.var
    return {
        "label_mean": mean_error[is_label].mean(),
        "label_var": np.abs(var_error[is_label]).mean(),
        "label_var_bias": var_error[is_label].mean(),
        "label_var_95": np.quantile(np.abs(var_error[is_label]), 0.95),
        "rival_mean": mean_error[~is_label].mean(),
        "rival_var": np.abs(var_error[~is_label]).mean(),
        "rival_var_95": np.quantile(np.abs(var_error[~is_label]), 0.95),
        "score": np.abs(score - true_score).sum() / np.abs(true_score).sum(),
        "prec": np.abs(prec - true_prec).sum() / np.abs(true_prec).sum(),
    }


def training(arm: Arm, seed: int, plan: Plan) -> Numbers:
    """Test scores of a network trained with the sweep, or with the integral in its place."""
    problem = digits(DIGITS, plan.rows, seed)
    network, settings = Network((64, 32, DIGITS), "classification"), Settings(max_epochs=plan.training)
    score = exact_probit.likelihood_score if arm.method == "exact" else Probit.score
    with replaced(Probit, "score", score):
        fitted = fit(network, problem.x, problem.y, settings, seed=seed)
    return scores(fitted, problem.x_test, problem.y_test)


def lines(points: pd.DataFrame, number: str) -> list[draw.Line]:
    """An error by the number of classes: random states, and the digits after so many epochs."""
    drawn = []
    for (data, epochs), here in pick(points, number=number).groupby(["data", "epochs"], sort=False):
        label = data if epochs == 0 else f"digits, epoch {epochs}"
        x, mean, se = (here[column].tolist() for column in ("classes", "mean", "se"))
        drawn.append(draw.Line(label, label, x, mean, se))
    return drawn


def panels(points: pd.DataFrame, plan: Plan) -> list[draw.Panel]:
    """Variance of the label, variances of the rivals, and what the weights hear."""
    shown = {"label_var": "relative error of the label's variance", "rival_var": "of the rivals' variances"}
    shown |= {"prec": "of the score precisions"}
    return [
        draw.Panel(
            label, "classes", "relative error", lines(points, number), log_x=True, log_y=False, x_ticks=plan.classes
        )
        for number, label in shown.items()
    ]


def conclusions(points: pd.DataFrame, trained: pd.DataFrame, plan: Plan) -> list[Conclusion]:
    """Are the errors small at K = 10, on states of a training; and does the integral make a better network?"""
    concluded = []
    for data, epochs in [("random states", 0), *(("digits", e) for e in plan.epochs)]:
        here = pick(points, data=data, classes=DIGITS, epochs=epochs).set_index("number")
        mean, se = here["mean"], here["se"]
        where = f"{DIGITS} classes, {data}" + (f" after {epochs} epoch{'s'[: epochs > 1]}" if epochs else "")
        parts = [f"{text} {with_error(mean[name], se[name], '.2g')}" for name, text in NUMBERS.items()]
        concluded.append(
            Conclusion(
                Verdict(f"{where}: relative error of the label's variance", mean["label_var"], "<=", SMALL),
                f"{where}: mean errors of one sweep: {', '.join(parts)} (variances, scores and precisions relative); "
                f"the label's variance is off by {mean['label_var_95']:.2g} in the worst twentieth.",
            )
        )
    for number, word in (("nll", "test NLL"), ("loss", "test error")):
        here = pick(trained, number=number)
        gap, se = paired(pick(here, method="exact"), pick(here, method="sweep"))
        level = pick(here, method="sweep")["value"].mean()
        concluded.append(
            Conclusion(
                Verdict(f"training with the integral: gain in {word}, in standard errors", -gap / se, ">=", 2.0),
                f"Trained with the integral instead of the sweep the {word} is {with_error(gap, se, '+.2g')} "
                f"against {level:.3g} (paired over {here['seed'].nunique()} seeds).",
            )
        )
    return concluded
