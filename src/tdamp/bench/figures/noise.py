"""Noise variance and test error by epoch for the rules of the noise, from a large first value, MNIST."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from rich.console import Console

from ..ablations.contest import between, last_epoch
from ..jobs import Config
from ..record import Verdict
from . import draw, tidy
from .evaluation import evaluate
from .options import Options, WrongOption
from .plan import Curve, Plan
from .publish import Finding, publish

TITLE = "Rules for the noise variance"

FIRST = 100.0
"""Noise variance at the start; outputs have variance one."""
WHEN = {"epoch": "once an epoch", "minibatch": "running"}


def _curve(rule: str, when: str, name: str, label: str) -> Curve:
    config: Config = {"noise_update": rule, "noise_every": when, "noise_init": FIRST}
    return Curve("tdamp_variant", data=("mnist",), config=config, name=name, label=label)


PLAN = Plan(
    name="noise",
    whole=True,
    extra=("noise_var",),
    curves=(
        *(
            _curve(rule, when, f"{rule}_{when}", f"{label}, {WHEN[when]}")
            for when in WHEN
            for rule, label in (("em", "Gumbel rule"), ("numerical", "numerical argmax"))
        ),
        _curve("fixed", "epoch", "fixed", "fixed"),
    ),
)
STYLES = {
    "em_minibatch": draw.Style("#0072B2", "-", "o", 2.4),
    "numerical_minibatch": draw.Style("#D55E00", (0, (3, 1)), "s"),
    "em_epoch": draw.Style("#56B4E9", "-", "o"),
    "numerical_epoch": draw.Style("#E69F00", "--", "s"),
    "fixed": draw.Style("#000000", ":", "^"),
}
QUICK = slice(2, 5)
"""A quick run leaves out the updates once an epoch: nearly all of its time is compilation."""
ALIKE = 1.25
"""Factor up to which two noise variances are called similar."""


def run(options: Options, console: Console) -> None:
    """Run what is missing, then draw and judge everything there is."""
    found = evaluate(replace(PLAN, curves=PLAN.curves[QUICK]) if options.quick else PLAN, options, console)
    if not found.cells:
        raise WrongOption("This figure is about MNIST, of which there is no run yet. Leave out --data.")
    losses, noises = tidy.table(found.cells), tidy.table(found.cells, "noise_var")
    points, noise_points = tidy.summary(losses), tidy.summary(noises)
    panels = [
        draw.Panel(title, "epoch", label, draw.lines(of, "epoch", found.labels, scale))
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
    publish(found, both, findings(losses, noises), console, {"first_noise_var": FIRST})


def findings(losses: pd.DataFrame, noises: pd.DataFrame) -> list[Finding]:
    """The paper's claims: stable and similar to the numerical solution; as fast; both better than fixed."""
    found = []
    for when, label in WHEN.items():
        ours, theirs = f"em_{when}", f"numerical_{when}"
        like = f"{label}: test error, Gumbel rule - numerical, in standard errors"
        here = _alike(noises, ours, theirs, label) + _error(losses, ours, theirs, like, 2.0, "noise-rule")
        for name in (ours, theirs):
            rule = "Gumbel rule" if name == ours else "numerical argmax"
            claim = f"{label}: test error, {rule} - fixed noise, in standard errors"
            here += _error(losses, name, "fixed", claim, -1.0, "noise-learned")
        variant = "tdamp_paper" if when == "epoch" else "tdamp"  # the paper updates it once an epoch
        found += [replace(finding, variant=variant) for finding in here]
    return found


def _alike(noises: pd.DataFrame, ours: str, theirs: str, label: str) -> list[Finding]:
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
    return [Finding(verdict, sentence, "noise-rule")]


def _error(losses: pd.DataFrame, ours: str, theirs: str, claim: str, limit: float, about: str) -> list[Finding]:
    """Final error of one rule against another's, seed by seed."""
    gap = between(last_epoch(losses), "mnist", 1.0, ours, theirs)
    if gap is None:
        return []
    error = f" ± {100 * gap.se:.2f}" if np.isfinite(gap.se) else ""
    sentence = (
        f"{claim}: {gap.in_se:+.1f} ({100 * gap.ours:.2f} % against {100 * gap.theirs:.2f} %, "
        f"difference {100 * gap.difference:+.2f}{error} points): {gap.word} it."
    )
    return [Finding(Verdict(claim, gap.in_se, "<=", limit), sentence, about)]
