"""Does AMP's error follow state evolution? One layer y = X w + noise, X of independent standard Gaussians.

The weights are w = u / sqrt(N), u of mean square one: Gaussian, or spike-slab with a share RHO that is not zero. With
alpha rows for each weight, state evolution says that after each sweep u is seen through Gaussian noise of variance
(noise_var + error) / alpha, and that the next error is the MMSE of that channel. It is exact as N grows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console

from ..core.record import Verdict
from ..figures import draw
from ..figures.margins import with_error
from ..figures.options import Options
from ..figures.publish import Conclusion
from ..figures.tidy import pick
from .planted_layer import MODELS, amp_errors, state_evolution
from .study import Arm, Numbers, Study, summary

TITLE = "AMP on a planted layer against state evolution"
NAME = "state-evolution"


class Plan(NamedTuple):
    """Sizes; a quick run's figures mean nothing."""

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800, 1600)
    sweeps: int = 20
    most_seeds: int = 40


QUICK = Plan((50, 100), 6)


def run(options: Options, console: Console) -> None:
    """Measure what is missing, then draw and judge."""
    plan = QUICK if options.quick else Plan()
    study = Study(NAME, options, console, plan.most_seeds)
    arms = [
        Arm(data, method, {"size": n})
        for data in MODELS
        for method in ("onsager", "no_onsager")
        for n in plan.sizes
        if method == "onsager" or n == plan.sizes[-1]
    ]
    runs = study.measured(arms, lambda arm, seed: errors(arm, seed, plan))
    theory = {data: state_evolution(model, plan.sweeps) for data, model in MODELS.items()}
    runs["deviation"] = [
        value / theory[data][at] - 1
        for data, at, value in zip(*(runs[name] for name in ("data", "at", "value")), strict=True)
    ]
    points = summary(runs.drop(columns="deviation")).merge(deviations(runs))
    points["theory"] = [theory[data][at] for data, at in zip(points["data"], points["at"], strict=True)]
    study.publish(points, panels(points, theory, plan), conclusions(points, plan), {"theory": theory})


def errors(arm: Arm, seed: int, plan: Plan) -> Numbers:
    """Mean squared error by sweep."""
    size, onsager = int(arm.config["size"]), arm.method == "onsager"
    return {"mse": amp_errors(MODELS[arm.data], size, onsager, plan.sweeps, seed)}


def deviations(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and root mean square over seeds of MSE / theory - 1, by arm and sweep."""
    by = ["data", "method", "size", "at"]
    table = runs.groupby(by, sort=False)["deviation"].agg(["mean", lambda d: np.sqrt(np.mean(d**2))]).reset_index()
    return table.set_axis([*by, "bias", "rms"], axis=1)


def panels(points: pd.DataFrame, theory: dict[str, list[float]], plan: Plan) -> list[draw.Panel]:
    """The error by sweep at the largest size, for each prior; and the deviation at the end by size."""
    drawn = []
    sweeps = list(range(1, plan.sweeps + 1))
    largest = pick(points, size=plan.sizes[-1])
    for data in MODELS:
        here = pick(largest, data=data)
        lines = [draw.Line("theory", "state evolution", sweeps, theory[data])]
        for method, label in (("onsager", "AMP"), ("no_onsager", "without the Onsager term")):
            one = pick(here, method=method)
            lines.append(draw.Line(method, label, sweeps, one["mean"].tolist(), one["se"].tolist()))
        drawn.append(draw.Panel(f"{data}, N = {plan.sizes[-1]}", "sweep", "mean squared error", lines, y_top=2.0))
    last = pick(points, method="onsager", at=plan.sweeps - 1)
    lines = [
        draw.Line(f"rms {data}", f"{data}: rms deviation", list(plan.sizes), pick(last, data=data)["rms"].tolist())
        for data in MODELS
    ]
    lines.append(draw.Line("rate", "N to the power -1/2", list(plan.sizes), [3 / np.sqrt(n) for n in plan.sizes]))
    drawn.append(draw.Panel("at the end", "weights N", "relative deviation", lines, log_x=True, x_ticks=plan.sizes))
    return drawn


def rate(sizes: np.ndarray, rms: np.ndarray) -> tuple[float, float]:
    """Slope of log rms by log size, with its standard error by least squares."""
    a = np.stack([np.log(sizes), np.ones(len(sizes))], 1)
    solution, residual, *_ = np.linalg.lstsq(a, np.log(rms), rcond=None)
    spread = residual.sum() / max(len(sizes) - 2, 1) * np.linalg.inv(a.T @ a)[0, 0]
    return float(solution[0]), float(np.sqrt(spread))


def conclusions(points: pd.DataFrame, plan: Plan) -> list[Conclusion]:
    """Is the fixed point that of state evolution, does the deviation fall as N^(-1/2), and without Onsager?"""
    concluded = []
    for data in MODELS:
        last = pick(points, data=data, at=plan.sweeps - 1)
        amp = pick(last, method="onsager")
        end = amp.iloc[-1]
        gap = end["mean"] / end["theory"] - 1
        se = end["se"] / end["theory"]
        concluded.append(
            Conclusion(
                Verdict(f"{data}, N = {plan.sizes[-1]}: |MSE / theory - 1| in standard errors", abs(gap) / se, "<=", 2),
                f"{data}: at N = {plan.sizes[-1]} AMP ends at a mean squared error of "
                f"{with_error(end['mean'], end['se'], '.4g')} where state evolution says {end['theory']:.4g}: "
                f"{with_error(100 * gap, 100 * se, '+.2g')} %.",
            )
        )
        slope, error = rate(amp["size"].to_numpy(float), amp["rms"].to_numpy())
        concluded.append(
            Conclusion(
                Verdict(f"{data}: power of N by which the deviation falls", slope, "<=", -0.4),
                f"{data}: the deviation falls as N to the power {with_error(slope, error, '.2f')} (theory: -0.5).",
            )
        )
        away = pick(last, method="no_onsager").iloc[-1]
        ratio = away["mean"] / away["theory"]
        concluded.append(
            Conclusion(
                Verdict(f"{data}: MSE without the Onsager term, over state evolution's", ratio, ">=", 1.1),
                f"{data}: without the Onsager term the error after {plan.sweeps} sweeps is {ratio:.3g} times that.",
            )
        )
    return concluded
