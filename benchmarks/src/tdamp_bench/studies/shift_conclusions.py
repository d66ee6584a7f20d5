"""Panels and verdicts of the study of shifts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ..core.record import Verdict
from ..figures import draw
from ..figures.margins import with_error
from ..figures.paired import gap
from ..figures.publish import Conclusion
from ..figures.tidy import pick
from .shift_plan import Plan

LABELS = {
    "tdamp": "tdamp",
    "ensemble": "an ensemble of five Adams",
    "laplace": "Laplace on Adam",
    "adamw": "AdamW",
    "ensemble_adamw": "an ensemble of five AdamWs",
}
STYLES = {
    "tdamp": draw.STYLES["tdamp"],
    "ensemble": draw.STYLES["adam"],
    "laplace": draw.STYLES["group_lasso"],
    "adamw": draw.STYLES["adamw"],
    "ensemble_adamw": draw.STYLES["magnitude_adamw"],
}


def places(plan: Plan) -> dict[str, list[float]]:
    """What the places of the lists are."""
    return {"friedman1": list(plan.deltas), "turned": list(plan.angles), "noisy": list(plan.noises)}


def panels(points: pd.DataFrame, plan: Plan) -> list[draw.Panel]:
    """Coverage and NLL of the regression; ECE and NLL of turned and of noisy digits."""
    shown = [
        ("coverage", "friedman1", "coverage of 95 % intervals", "shift of the inputs"),
        ("nll", "friedman1", "NLL", "shift of the inputs"),
        ("turned ece", "turned", "ECE, turned digits", "degrees"),
        ("turned nll", "turned", "NLL, turned digits", "degrees"),
        ("noisy nll", "noisy", "NLL, noisy digits", "deviation of the noise"),
    ]
    drawn = []
    for number, kind, title, x_label in shown:
        x = places(plan)[kind]
        here = pick(points, number=number)
        lines = [
            draw.Line(name, LABELS[name], x, one["mean"].tolist(), one["se"].tolist())
            for name, one in here.groupby("method", sort=False)
        ]
        logarithmic = number == "nll"
        drawn.append(draw.Panel(title, x_label, title, lines, log_y=logarithmic, x_ticks=x))
    return drawn


def conclusions(runs: pd.DataFrame, plan: Plan) -> list[Conclusion]:
    """Coverage inside and outside; and tdamp's NLL against every rival's at no, a medium and the largest shift."""
    concluded = []
    for at in _some(plan.deltas):
        here = pick(runs, data="friedman1", at=at)
        cover = pick(here, number="coverage").groupby("method", sort=False)["value"].agg(["mean", "sem"])
        texts = [f"{LABELS[name]} {with_error(m, s, '.3f')}" for name, (m, s) in cover.T.items()]
        where = f"inputs shifted by {plan.deltas[at]:g}"
        concluded.append(
            Conclusion(
                Verdict(f"{where}: tdamp's coverage of 95 % intervals", float(cover.loc["tdamp", "mean"]), ">=", 0.9),
                f"Regression, {where}: coverage of 95 % intervals: {', '.join(texts)}.",
            )
        )
        concluded += _against(pick(here, number="nll"), f"Regression, {where}")
    for kind, sizes, unit in (("turned", plan.angles, "degrees"), ("noisy", plan.noises, "noise")):
        for at in _some(sizes)[kind == "noisy" :]:  # the digits as they are once
            here = pick(runs, data="mnist", at=at, number=f"{kind} nll")
            concluded += _against(here, f"Digits, {kind}, {sizes[at]:g} {unit}")
    return concluded


def _some(sizes: Sequence[float]) -> list[int]:
    """The first, the middle and the last place."""
    return sorted({0, len(sizes) // 2, len(sizes) - 1})


def _against(runs: pd.DataFrame, where: str) -> list[Conclusion]:
    """tdamp's NLL is below every other's, seed by seed."""
    by_seed = {name: one.set_index("seed")["value"].sort_index() for name, one in runs.groupby("method", sort=False)}
    ours = by_seed.pop("tdamp")
    concluded = []
    for name, theirs in by_seed.items():
        apart = gap(ours.to_numpy(), theirs.to_numpy())
        comparison = f"tdamp's NLL is {apart.ours:.3g}, that of {LABELS[name]} {apart.theirs:.3g}"
        concluded.append(
            Conclusion(
                apart.verdict(f"{where}: tdamp's NLL is below that of {LABELS[name]}"),
                f"{where}: {comparison}: {apart.word} it, difference {apart.text()}.",
            )
        )
    return concluded
