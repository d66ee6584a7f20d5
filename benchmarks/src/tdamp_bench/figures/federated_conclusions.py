"""What the federated figures find: tdamp against FedAvg, round by round, byte by byte, and at smaller sizes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import accumulate

import pandas as pd

from ..core.record import Verdict
from .curves import epochs_to_reach
from .evaluation import Evaluation
from .federated import RIVALS, SKEWED, SMALL, VARIANT, small
from .methods import NAMES
from .paired import Gap, between, last_epoch
from .publish import Conclusion
from .sparsity_contest import is_small
from .tasks import Task
from .tidy import pick, summary, table

RIVAL, RIVAL_NAME = "fedavg_adam", "FedAvg with Adam"
TARGET_ROUND = {"mnist": 10}
"""The rival's error after so many rounds is to be reached ..."""
MOST_ROUNDS = 6
"""... within so many."""
FIRST_ROUND = {"mnist": 1, "boston": 3}
"""From this round on tdamp's loss is to be the lower one."""
BYTES = {1.0: 1.0, SMALL: 1 / 3}
"""Of the rival's bytes to its own best loss, tdamp may need this part to reach it, by share of units kept."""
SMALL_RIVAL, SMALL_RIVAL_NAME = "fedavg_group_lasso", "FedAvg with group lasso"
WIDER = 2.0
"""At this share of units the lead over group lasso is to be so many times that with all units."""


def curve_conclusions(evaluation: Evaluation, points: pd.DataFrame, ours: str) -> list[Conclusion]:
    """Rounds and bytes, of the data sets that have both curves."""
    sent, final = summary(table(evaluation.cells, "bytes")), last_epoch(table(evaluation.cells))
    conclusions: list[Conclusion] = []
    who = _who(ours)
    for data, task in evaluation.tasks.items():
        theirs, mine = _curve(points, data, RIVAL), _curve(points, data, ours)
        if not theirs or not mine:
            continue
        if data in TARGET_ROUND:
            conclusions.append(_rounds(task, mine, theirs, TARGET_ROUND[data], who))
        conclusions.append(_every_round(task, mine, theirs, FIRST_ROUND[data], who))
        gap = between(final, data, 1.0, ours, RIVAL)
        if gap is not None:
            conclusions.append(_end(task, gap, who))
        if data in TARGET_ROUND:
            for keep, part in BYTES.items():
                curve, cost = _curve(points, data, ours, keep), _curve(sent, data, ours, keep)
                if curve and cost:
                    conclusions.append(_bytes(task, keep, part, curve, cost, theirs, _curve(sent, data, RIVAL), who))
                rival, its_cost = _curve(points, data, SMALL_RIVAL, keep), _curve(sent, data, SMALL_RIVAL, keep)
                if keep < 1 and curve and cost and rival and its_cost:
                    conclusions.append(_bytes_alike(task, keep, part, curve, cost, rival[-1], sum(its_cost), who))
    return [replace(conclusion, variant=VARIANT.get(ours, conclusion.variant)) for conclusion in conclusions]


def gap_conclusions(evaluation: Evaluation, points: pd.DataFrame, ours: str) -> list[Conclusion]:
    """Whether the lead over FedAvg with group lasso grows as units go; `points` are those of the last round."""
    conclusions, who = [], _who(ours)
    for data, task in evaluation.tasks.items():
        leads = []
        for keep in (1.0, SMALL):
            mine, theirs = (pick(points, data=data, method=name, keep=keep) for name in (ours, SMALL_RIVAL))
            if len(mine) and len(theirs):
                leads.append(float(theirs["mean"].iloc[0]) - _comparable(mine, theirs))
        if len(leads) == 2:
            ratio = leads[1] / leads[0] if leads[0] > 0 else math.nan
            name = f"{_title(task, who)}: lead over {SMALL_RIVAL_NAME} at keep {SMALL:g}, over that at 1"
            text = (
                f"{task.title}: {who} leads {SMALL_RIVAL_NAME} by {leads[0]:.4g} with all units, "
                f"by {leads[1]:.4g} with {SMALL:g} of them."
            )
            verdict = Verdict(name, ratio, ">=", WIDER)
            conclusions.append(Conclusion(verdict, text, "federated", VARIANT.get(ours, "tdamp")))
    return conclusions


def best_conclusions(evaluation: Evaluation, points: pd.DataFrame, runs: pd.DataFrame, ours: str) -> list[Conclusion]:
    """Whether tdamp ends below the best of the paper's baselines, and of others, at every size, seed by seed.

    `points` are those of the last round, `runs` the table of all runs. Too many units left lose.
    """
    conclusions, final = [], last_epoch(runs)
    for claim, (whose, rivals) in RIVALS.items():
        there = points[points["method"].str.removesuffix(SKEWED).isin(rivals)]
        for data, task in evaluation.tasks.items():
            for keep in sorted({*pick(there, data=data)["keep"]}, reverse=True):
                mine, others = pick(points, data=data, keep=keep, method=ours), pick(there, data=data, keep=keep)
                if not len(mine):
                    continue
                best = str(others.loc[others["mean"].idxmin(), "method"])
                gap = between(final, data, keep, ours, best)
                if gap is None:
                    continue
                name = f"{_title(task, _who(ours))}, keep {keep:g}: final {task.loss}, against the best of {whose}"
                text = f"{evaluation.labels[ours]} ends at {gap.ours:.4g}"
                verdict, word = gap.verdict(name), f"difference {gap.text()}: {gap.word} it"
                if math.isinf(_comparable(mine, pick(points, data=data, keep=keep))):
                    text += f" with {mine['units'].iloc[0]:.4g} units"
                    verdict, word = Verdict(name, math.inf, "<", 0.0), "too many to compare"
                text += f"; the best of {whose}, {evaluation.labels[best]}, at {gap.theirs:.4g}"
                sentence = f"{task.title}, keep {keep:g}: {text}, {word}."
                conclusions.append(Conclusion(verdict, sentence, claim, VARIANT.get(ours, "tdamp")))
    return conclusions


def _comparable(mine: pd.DataFrame, others: pd.DataFrame) -> float:
    """A final loss, infinite where far more units are left than the others have: the printed rule may do so."""
    small = is_small(mine["units"].iloc[0], others["units"].min())
    return float(mine["mean"].iloc[0]) if small else math.inf


def _who(ours: str) -> str:
    """What sentences call a curve of ours."""
    return NAMES[VARIANT.get(ours, "tdamp")]


def _title(task: Task, who: str) -> str:
    """Of a verdict."""
    return task.title if who == "tdamp" else f"{task.title}, {who}"


def _curve(points: pd.DataFrame, data: str, method: str, keep: float = 1.0) -> list[float]:
    return pick(points, data=data, method=method if keep == 1 else small(method), keep=keep)["mean"].tolist()


def _rounds(task: Task, ours: list[float], theirs: list[float], target_round: int, who: str = "tdamp") -> Conclusion:
    target = theirs[min(target_round, len(theirs)) - 1]
    reached = epochs_to_reach(ours, target)
    verdict = Verdict(
        f"{_title(task, who)}: rounds to the loss of {RIVAL_NAME} after {target_round}", reached, "<=", MOST_ROUNDS
    )
    when = f"after {reached:g}" if math.isfinite(reached) else "never"
    return Conclusion(
        verdict,
        f"{task.title}: {RIVAL_NAME} has {target:.4g} after {target_round} rounds; {who} is there {when}.",
        "federated",
    )


def _every_round(task: Task, ours: list[float], theirs: list[float], first: int, who: str = "tdamp") -> Conclusion:
    behind = [r for r, (a, b) in enumerate(zip(ours, theirs, strict=True), start=1) if r >= first and not a < b]
    verdict = Verdict(
        f"{task.title}: rounds from {first} on in which {who} is not below {RIVAL_NAME}", len(behind), "<=", 0
    )
    text = "in every round" if not behind else f"but not in round {', '.join(map(str, behind))}"
    return Conclusion(verdict, f"{task.title}: from round {first} on {who} is below {RIVAL_NAME} {text}.", "federated")


def _end(task: Task, gap: Gap, who: str = "tdamp") -> Conclusion:
    verdict = gap.verdict(f"{_title(task, who)}: final {task.loss}, against {RIVAL_NAME}")
    ends = f"{who} ends at {gap.ours:.4g}, {RIVAL_NAME} at {gap.theirs:.4g}"
    return Conclusion(verdict, f"{task.title}: {ends}, difference {gap.text()}: {gap.word} it.", "federated")


def _bytes(
    task: Task,
    keep: float,
    part: float,
    ours: list[float],
    cost: list[float],
    theirs: list[float],
    their_cost: list[float],
    who: str = "tdamp",
) -> Conclusion:
    best = min(theirs)
    reached, had = bytes_to_reach(ours, cost, best), bytes_to_reach(theirs, their_cost, best)
    name = f"{_title(task, who)}, keep {keep:g}: bytes to the best loss of {RIVAL_NAME}, over its own"
    text = f"after {reached / 1e6:.4g} MB" if math.isfinite(reached) else "never"
    their_text = f"{RIVAL_NAME} is at its best, {best:.4g}, after {had / 1e6:.4g} MB"
    sentence = f"{task.title}, keep {keep:g}: {their_text}; {who} reaches that: {text}."
    return Conclusion(Verdict(name, reached / had, "<=", part), sentence, "federated")


def _bytes_alike(
    task: Task,
    keep: float,
    part: float,
    ours: list[float],
    cost: list[float],
    target: float,
    had: float,
    who: str = "tdamp",
) -> Conclusion:
    """Against the rival that ends with as many units, which it has after its last round alone."""
    first = cost.index(cost[-1])  # from this round on there is nothing more to remove
    reached = bytes_to_reach([math.inf] * first + ours[first:], cost, target)
    name = f"{_title(task, who)}, keep {keep:g}: bytes to the loss of {SMALL_RIVAL_NAME} at this size, over its own"
    text = f"after {reached / 1e6:.4g} MB, at this size" if math.isfinite(reached) else "never"
    their_text = f"{SMALL_RIVAL_NAME} has {target:.4g} after {had / 1e6:.4g} MB"
    sentence = f"{task.title}, keep {keep:g}: {their_text}; {who} reaches that: {text}."
    return Conclusion(Verdict(name, reached / had, "<=", part), sentence, "federated")


def bytes_to_reach(curve: list[float], cost: list[float], target: float) -> float:
    """What has been sent both ways when a curve is first as low as the target; infinite where it never is."""
    total = list(accumulate(cost))
    return next((total[r] for r, loss in enumerate(curve) if loss <= target), math.inf)
