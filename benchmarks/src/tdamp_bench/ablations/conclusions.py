"""What the ablations say about the paper's side claims: a number for each data set, and a sentence for each claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from ..core.jobs import n_keep
from ..core.record import Verdict
from ..figures.paired import Gap, between, last_epoch
from ..figures.publish import Conclusion
from ..figures.tasks import Task
from ..figures.tidy import pick
from .arms import FIXED_NOISE, RHO, SHARES
from .contest import verdict_word

NEAR = 0.05
"""A rule controls the number of units if it ends within this share of the target."""

RULES = {"rho_paper": ("rho", "tdamp_paper"), "exact": ("rho", "tdamp")}
"""The rules that are claimed to reach the target, and whose they are."""

Tasks = dict[str, Task]
Claim = Callable[[pd.DataFrame, Tasks], list[Conclusion]]


def conclusions(runs: pd.DataFrame, tasks: Tasks) -> list[Conclusion]:
    """All claims, in the order of the parts; `runs` is `tidy.table`."""
    final = last_epoch(runs)
    claims: tuple[Claim, ...] = (turbo, sparsity, noise, pasp)
    return [conclusion for claim in claims for conclusion in claim(final, tasks)]


def turbo(final: pd.DataFrame, tasks: Tasks) -> list[Conclusion]:
    """The exact posterior is slightly better than its projection."""
    better = []
    for end, name, variant in (("", "", "tdamp"), ("_printed", ", as printed", "tdamp_paper")):
        for theirs, label in (("ep", "after each minibatch"), ("ep_epoch", "once an epoch")):
            for keep in (1.0, 0.5):
                claim = f"turbo is better than EP {label}, keep {keep:g}{name}"
                better += _better(final, tasks, keep, f"turbo{end}", f"{theirs}{end}", claim, "turbo", variant)
    return better


def pasp(final: pd.DataFrame, tasks: Tasks) -> list[Conclusion]:
    """The posterior as prior is needed; anchored it is better than with power 1."""
    better = _better(final, tasks, 1.0, "anchored", "power_one", "anchored PasP is better than PasP with power 1", "")
    for ours, name, variant in (
        ("anchored", "anchored PasP", "tdamp"),
        ("as_printed", "the method as printed", "tdamp_paper"),
    ):
        for theirs, label in (("whole", "one batch of all rows"), ("averaged", "averaged minibatches")):
            claim = f"{name} is better than {label} without PasP"
            better += _better(final, tasks, 1.0, ours, theirs, claim, "pasp", variant)
    return better


def sparsity(final: pd.DataFrame, tasks: Tasks) -> list[Conclusion]:
    """Fixed rho and plain EM do not control the number of units; the modified rule does."""
    better = []
    for curve in RHO:
        worst, reached = 0.0, []
        for data, task in tasks.items():
            for keep in SHARES:
                here = pick(final, data=data, method=curve.name, keep=keep)
                if len(here):
                    units, goal = here["units"].mean(), n_keep(task.widths, keep)
                    worst = max(worst, abs(units - goal) / goal)
                    loss = _shown(task, float(here["loss"].mean()))
                    reached.append(f"{task.title} {units:.0f} of {goal} units, {task.loss} {loss}")
        if reached:
            verdict = Verdict(f"{curve.label}: units left, worst distance from the target", worst, "<=", NEAR)
            word = "controls" if verdict.met else "does not control"
            claim, variant = RULES.get(curve.name, ("", "tdamp"))
            sentence = f"{curve.label} {word} the number of units: {'; '.join(reached)}."
            better.append(Conclusion(verdict, sentence, claim, variant))
    return better


def noise(final: pd.DataFrame, tasks: Tasks) -> list[Conclusion]:
    """The learned noise is better than the best fixed one, which a person would have to find; a tie is none."""
    better, held = list[Conclusion](), list[Verdict]()
    for data, task in tasks.items():
        gaps = {
            value: gap for value in FIXED_NOISE if (gap := between(final, data, 1.0, "learned", f"noise_{value:g}"))
        }
        if not gaps:
            continue
        best = min(gaps, key=lambda value: gaps[value].theirs)
        gap = gaps[best]
        verdict = gap.verdict(f"{task.title}: learned noise is better than the best of {len(gaps)} fixed ones")
        beaten = [f"{value:g}" for value, other in gaps.items() if other.outcome == "win"]
        held.append(verdict)
        better.append(
            Conclusion(
                verdict,
                f"{task.title}: learned noise ({_shown(task, gap.ours)}) is {gap.word} the best fixed one, {best:g} "
                f"({_shown(task, gap.theirs)}, {gap.in_se:+.1f} s.e.), and better than {', '.join(beaten) or 'none'}.",
                "noise-learned",
            )
        )
    return _concluded(better, held, "learned noise is better than the best fixed one")


def _better(
    final: pd.DataFrame,
    tasks: Tasks,
    keep: float,
    ours: str,
    theirs: str,
    claim: str,
    about: str,
    variant: str = "tdamp",
) -> list[Conclusion]:
    better, held = list[Conclusion](), list[Verdict]()
    for data, task in tasks.items():
        gap = between(final, data, keep, ours, theirs)
        if gap is not None:
            verdict = gap.verdict(f"{task.title}: {claim}")
            held.append(verdict)
            better.append(Conclusion(verdict, f"{task.title}: {_against(task, gap)}.", about, variant))
    return _concluded(better, held, claim)


def _against(task: Task, gap: Gap) -> str:
    difference = gap.text(100.0, " points") if task.percent else gap.text()
    return (
        f"{task.loss} {_shown(task, gap.ours)} against {_shown(task, gap.theirs)}, "
        f"difference {difference}: {gap.word} it"
    )


def _concluded(unlabelled: list[Conclusion], held: list[Verdict], claim: str) -> list[Conclusion]:
    """The same conclusions; before each sentence the claim, and whether it holds over the data sets."""
    claim, word = claim[0].upper() + claim[1:], verdict_word(held)
    return [replace(one, sentence=f"{claim}: {word}. {one.sentence}") for one in unlabelled]


def _shown(task: Task, loss: float) -> str:
    return f"{100 * loss:.2f} %" if task.percent else f"{loss:.4f}"
