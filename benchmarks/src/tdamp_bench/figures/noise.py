"""Noise variance and test error by epoch for the rules of the noise, from a large first value, MNIST."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from rich.console import Console

from ..core.jobs import Config
from ..core.record import Verdict
from . import draw, tidy
from .evaluation import evaluate
from .options import Options, WrongOption
from .paired import CLEAR, between, last_epoch
from .plan import Curve, Plan
from .publish import Conclusion, publish

TITLE = "Rules for the noise variance"

FIRST = 100.0
"""Noise variance at the start; outputs have variance one."""
WHOSE = {"tdamp": "running", "tdamp_paper": "as printed, once an epoch"}
"""When the noise is learned, by the variant of the method: tdamp's preset, and the paper's."""
LEGEND = {"tdamp": "tdamp", "tdamp_paper": "as printed"}
SUFFIXES = {"tdamp": "_minibatch", "tdamp_paper": "_printed"}
FIXED = {"tdamp": "fixed", "tdamp_paper": "fixed_printed"}


def _curves(variant: str) -> tuple[Curve, ...]:
    """Both rules, and the noise held, of a variant."""
    method = "tdamp_variant" if variant == "tdamp" else "tdamp_printed"
    curves = []
    for rule, label in (("em", "Gumbel rule"), ("numerical", "numerical argmax"), ("fixed", "fixed")):
        name = FIXED[variant] if rule == "fixed" else f"{rule}{SUFFIXES[variant]}"
        when = "minibatch" if variant == "tdamp" and rule != "fixed" else "epoch"
        config: Config = {"noise_update": rule, "noise_every": when, "noise_init": FIRST}
        curves.append(Curve(method, data=("mnist",), config=config, name=name, label=f"{label}, {LEGEND[variant]}"))
    return tuple(curves)


PLAN = Plan(
    name="noise",
    whole=True,
    extra=("noise_var",),
    curves=tuple(curve for variant in WHOSE for curve in _curves(variant)),
)
STYLES = {
    "em_minibatch": draw.Style("#0072B2", "-", "o", 2.4),
    "numerical_minibatch": draw.Style("#D55E00", (0, (3, 1)), "s"),
    "fixed": draw.Style("#000000", ":", "^"),
    "em_printed": draw.Style("#56B4E9", "-", "o"),
    "numerical_printed": draw.Style("#E69F00", "--", "s"),
    "fixed_printed": draw.Style("#999999", ":", "^"),
}
QUICK = slice(4)
"""A quick run has one curve of the method as printed, the Gumbel rule's: nearly all of its time is compilation."""
ALIKE = 1.25
"""Factor up to which two noise variances are called similar."""


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is."""
    evaluation = evaluate(replace(PLAN, curves=PLAN.curves[QUICK]) if options.quick else PLAN, options, console)
    if not evaluation.cells:
        raise WrongOption("This figure is about MNIST, of which there is no run yet. Leave out --data.")
    losses, noises = tidy.table(evaluation.cells), tidy.table(evaluation.cells, "noise_var")
    points, noise_points = tidy.summary(losses), tidy.summary(noises)
    panels = [
        draw.Panel(title, "epoch", label, draw.lines(of, "epoch", evaluation.labels, scale))
        for title, label, of, scale in (
            ("Noise variance", "noise variance", noise_points, 1.0),
            ("Test error", "test error (%)", points, 100.0),
        )
    ]
    draw.figure(panels, options.folder(PLAN.name) / PLAN.name, STYLES)
    both = points.merge(
        noise_points.rename(columns={"mean": "noise_var", "se": "noise_var_se"}).drop(columns=["n", "units"]),
        on=tidy.POINT,
    )
    publish(evaluation, both, conclusions(losses, noises), console, {"first_noise_var": FIRST})


def conclusions(losses: pd.DataFrame, noises: pd.DataFrame) -> list[Conclusion]:
    """The paper's claims: stable and similar to the numerical solution; as fast; both better than fixed."""
    concluded = []
    for variant, label in WHOSE.items():
        ours, theirs = f"em{SUFFIXES[variant]}", f"numerical{SUFFIXES[variant]}"
        like = f"{label}: test error, Gumbel rule - numerical, in standard errors"
        here = _alike(noises, ours, theirs, label) + _error(losses, ours, theirs, like, CLEAR, "noise-rule")
        for name in (ours, theirs):
            rule = "Gumbel rule" if name == ours else "numerical argmax"
            claim = f"{label}: test error, {rule} - fixed noise, in standard errors"
            here += _error(losses, name, FIXED[variant], claim, -CLEAR, "noise-learned")
        concluded += [replace(conclusion, variant=variant) for conclusion in here]
    return concluded


def _alike(noises: pd.DataFrame, ours: str, theirs: str, label: str) -> list[Conclusion]:
    """How far the two noise variances are apart at their worst, and at the end."""
    means = [tidy.pick(noises, method=name).groupby("epoch")["loss"].mean() for name in (ours, theirs)]
    if not all(map(len, means)):
        return []
    ratio = (means[0] / means[1]).to_numpy()
    factor = np.exp(np.abs(np.log(ratio)))
    verdict = Verdict(f"{label}: largest factor between the noise variances of an epoch", factor.max(), "<=", ALIKE)
    worst = int(means[0].index[factor.argmax()])
    sentence = (
        f"Noise {label}: the Gumbel rule's variance over the numerical argmax's ends at {ratio[-1]:.3g} "
        f"({means[0].iloc[-1]:.3g} against {means[1].iloc[-1]:.3g}); they are furthest apart in epoch {worst}, "
        f"by a factor of {factor.max():.3g}."
    )
    return [Conclusion(verdict, sentence, "noise-rule")]


def _error(losses: pd.DataFrame, ours: str, theirs: str, claim: str, limit: float, about: str) -> list[Conclusion]:
    """Final error of one rule against another's, seed by seed."""
    gap = between(last_epoch(losses), "mnist", 1.0, ours, theirs)
    if gap is None:
        return []
    error = f" ± {100 * gap.se:.2f}" if np.isfinite(gap.se) else ""
    sentence = (
        f"{claim}: {gap.in_se:+.1f} ({100 * gap.ours:.2f} % against {100 * gap.theirs:.2f} %, "
        f"difference {100 * gap.difference:+.2f}{error} points): {gap.word} it."
    )
    tied = limit < 0 and gap.outcome == "tie"
    return [Conclusion(Verdict(claim, gap.in_se, "<=", limit, tied), sentence, about)]
