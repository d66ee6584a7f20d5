"""The engine's posterior against HMC on small networks: mean, width and log density; and which data weight is right.

Both have the same network, the same prior N(0, base_var) of every layer's weights and biases, and the same known noise.
HMC's chains are long enough that the functions they draw agree (R-hat is in the results); the weights themselves have
equivalent orders of the units, so that they need not.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from rich.console import Console

from ..core.record import Verdict
from ..figures import draw
from ..figures.margins import with_error
from ..figures.options import Options
from ..figures.publish import Conclusion
from ..figures.tidy import pick
from .small_networks import QUICK, TASKS, Plan, compared, sampled
from .study import Arm, Study, paired, summary

TITLE = "Posteriors against HMC, and data_weight against the evidence"
NAME = "hmc"


def run(options: Options, console: Console) -> None:
    """Measure what is missing, then draw and judge."""
    plan = QUICK if options.quick else Plan()
    study = Study(NAME, options, console, plan.most_seeds)
    exact = study.measured([Arm(data, "hmc") for data in TASKS], lambda arm, seed: sampled(arm, seed, plan))
    arms = [
        Arm(data, f"sweeps-{sweeps}", {"data_weight": weight})
        for data in TASKS
        for sweeps in plan.sweeps
        for weight in plan.weights
    ]
    arms += [Arm(data, "usual") for data in TASKS]
    runs = study.measured(arms, lambda arm, seed: compared(arm, seed, plan, exact))
    by_seed = pd.concat([exact[~exact["number"].isin(["mean", "std"])], runs])
    points = summary(by_seed)
    study.publish(points, panels(points, plan), conclusions(by_seed, plan), {"plan": plan._asdict()})


SHOWN = {
    "nll": "test NLL",
    "std_ratio": "predictive deviation over HMC's",
    "mean_gap": "distance of the means, in HMC's deviations",
    "log_evidence": "log evidence of the last epoch",
}


def panels(points: pd.DataFrame, plan: Plan) -> list[draw.Panel]:
    """Each number by data weight; HMC's NLL as a level."""
    drawn = []
    for number, title in SHOWN.items():
        lines = []
        for data, task in TASKS.items():
            for sweeps in plan.sweeps:
                one = pick(points, data=data, method=f"sweeps-{sweeps}", number=number)
                x, mean, se = (one[column].tolist() for column in ("data_weight", "mean", "se"))
                label = f"{task.title}, {sweeps} sweep{'s' if sweeps > 1 else ''}"
                lines.append(draw.Line(f"{data} {sweeps}", label, x, mean, se))
            if number == "nll":
                level = float(pick(points, data=data, method="hmc", number="nll")["mean"].iloc[0])
                lines.append(draw.Line(f"{data} hmc", f"{task.title}, HMC", plan.weights, [level] * len(plan.weights)))
        drawn.append(
            draw.Panel(
                title, "data weight", title, lines, log_x=True, log_y=number == "std_ratio", x_ticks=plan.weights
            )
        )
    return drawn


def conclusions(runs: pd.DataFrame, plan: Plan) -> list[Conclusion]:
    """Do the chains agree; width and NLL at data weight 1; and where held-out score and evidence have their best."""
    concluded = []
    for data, task in TASKS.items():
        hmc = pick(runs, data=data, method="hmc")
        worst = pick(hmc, number="r_hat_max")["value"].max()
        middle = pick(hmc, number="r_hat_median")["value"].max()
        n = pick(hmc, number="ess_median")["value"].mean()
        concluded.append(
            Conclusion(
                Verdict(f"{task.title}: largest R-hat of HMC's functions, median over test rows", middle, "<=", 1.05),
                f"{task.title}: HMC's R-hat of the functions at the test rows is {middle:.3f} in the middle and "
                f"{worst:.2f} at worst, effective draws {n:.0f}.",
            )
        )
        for sweeps in plan.sweeps:
            here = pick(runs, data=data, method=f"sweeps-{sweeps}")
            concluded += _of_sweeps(here, pick(hmc, number="nll"), f"{task.title}, {sweeps} sweep{'s'[: sweeps > 1]}")
        concluded.append(_usual(pick(runs, data=data, method="usual"), hmc, task.title))
    return concluded


def _of_sweeps(runs: pd.DataFrame, hmc_nll: pd.DataFrame, where: str) -> list[Conclusion]:
    means = runs.groupby(["number", "data_weight"])["value"].agg(["mean", "sem"])
    best = {name: float(means.loc[name]["mean"].idxmin()) for name in ("nll", "mean_gap")}
    peak = float(means.loc["log_evidence"]["mean"].idxmax())
    one = pick(runs, data_weight=1.0)
    ratio, ratio_se = means.loc["std_ratio", 1.0]
    gap, se = paired(pick(one, number="nll"), hmc_nll)
    best_gap = paired(pick(runs, data_weight=best["nll"], number="nll"), hmc_nll)
    worse = paired(pick(one, number="nll"), pick(runs, data_weight=best["nll"], number="nll"))
    distance, distance_se = means.loc["mean_gap", 1.0]
    return [
        Conclusion(
            Verdict(f"{where}: predictive deviation over HMC's at data weight 1, |log|", abs(np.log(ratio)), "<=", 0.1),
            f"{where}, data weight 1: the predictive deviation is {with_error(ratio, ratio_se, '.2f')} times HMC's, "
            f"the means lie {with_error(distance, distance_se, '.2g')} of HMC's deviations apart, and the test NLL is "
            f"{with_error(gap, se, '+.2g')} against HMC's {hmc_nll['value'].mean():.3g}.",
        ),
        Conclusion(
            Verdict(f"{where}: loss in NLL of data weight 1 against the best, in SE", _in_se(*worse), "<=", 2.0),
            f"{where}: held-out rows like data weight {best['nll']:g} best (NLL {with_error(*best_gap, '+.2g')} "
            f"against HMC's), the means are nearest to HMC's at {best['mean_gap']:g}, and the last epoch's evidence "
            f"peaks at {peak:g}.",
        ),
    ]


def _usual(runs: pd.DataFrame, hmc: pd.DataFrame, where: str) -> Conclusion:
    """The engine with its own schedule."""
    gap, se = paired(pick(runs, number="nll"), pick(hmc, number="nll"))
    rmse, rmse_se = paired(pick(runs, number="rmse"), pick(hmc, number="rmse"))
    ratio = pick(runs, number="std_ratio")["value"]
    return Conclusion(
        Verdict(f"{where}: NLL of the usual schedule above HMC's, in SE", _in_se(gap, se), "<=", 2.0),
        f"{where}, the usual schedule (data weight 1 to 20): NLL {with_error(gap, se, '+.2g')} against HMC's, RMSE "
        f"{with_error(rmse, rmse_se, '+.2g')} against {pick(hmc, number='rmse')['value'].mean():.3g}, deviation "
        f"{with_error(ratio.mean(), ratio.sem(), '.2f')} times HMC's.",
    )


def _in_se(gap: float, se: float) -> float:
    return 0.0 if gap == 0 else gap / se
