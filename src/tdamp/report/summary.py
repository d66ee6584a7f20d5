"""The top of the page: the few numbers that matter, and the rest in a table with plain words beside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..engine.network import n_params
from ..training.pruning_loss import PruningLoss
from .facts import TASKS, Facts, Held
from .plots.training import has_noise, noise_levels
from .text import DASH, duration, number, percent, safe


class Line(NamedTuple):
    """A name, its value, and what it means."""

    name: str
    value: str
    meaning: str


def scores(held: Held) -> list[Line]:
    """Error, log score and calibration on the held-out rows."""
    return _class_scores(held) if held.probs is not None else _regression_scores(held)


def _class_scores(held: Held) -> list[Line]:
    assert held.probs is not None
    common = 1 - np.bincount(held.y).max() / len(held.y)
    return [
        Line(
            "Error",
            percent(metrics.error_rate(held.y, held.probs)),
            f"wrong classes; always guessing the commonest: {percent(common)}",
        ),
        Line(
            "Log score",
            number(metrics.class_log_score(held.y, held.probs), 3),
            "mean log probability of the true class; 0 is perfect",
        ),
        Line(
            "Calibration error",
            percent(metrics.ece(held.y, held.probs)),
            "mean gap between confidence and accuracy (ECE); 0 is perfect",
        ),
    ]


def _regression_scores(held: Held) -> list[Line]:
    y, predicted = held.y, held.distribution
    spread = float(np.sqrt(np.mean(np.var(y, axis=0, dtype=np.float64))))
    return [
        Line(
            "RMSE",
            number(metrics.rmse(y, predicted.mean), 3),
            f"typical error; always guessing the mean: {number(spread, 3)}",
        ),
        Line(
            "Log score",
            number(float(predicted.log_density(y).mean()), 3),
            "mean log density of the true value; higher is better",
        ),
        Line(
            "95 % coverage",
            percent(predicted.covered(y, 0.95)),
            "true values inside their 95 % intervals; 95 % is right",
        ),
    ]


def size(facts: Facts) -> Line:
    """Number of units before and after pruning."""
    before, after = sum(facts.widths[:-1]), sum(facts.widths_left[:-1])
    meaning = f"inputs and hidden units in use, of {before:,} asked for" + (
        f" ({percent(after / before)})" if after < before else ""
    )
    return Line("Units", f"{after:,}", meaning)


def details(facts: Facts) -> list[Line]:
    """The other numbers: rows, shape, size, noise, time."""
    before, after = facts.n_params or (n_params(facts.widths), n_params(facts.widths_left))
    shape, left = (DASH.join(map(str, widths)) for widths in (facts.widths, facts.widths_left))
    lines = [
        Line("Training rows", f"{facts.n_rows:,}", "rows that the model has learned from"),
        Line(
            "Network",
            shape if left == shape else f"{shape} → {left}",
            f"inputs, hidden units, outputs; {facts.activation} activation",
        ),
        Line(
            "Units",
            _before_after(sum(facts.widths[:-1]), sum(facts.widths_left[:-1])),
            "inputs and hidden units, asked for and left",
        ),
        *([] if facts.groups is None else [groups(*facts.groups)]),
        Line("Parameters", _before_after(before, after), "weights and biases, before and after pruning"),
    ]
    if facts.pruning is not None:
        lines.append(pruning(facts.pruning, facts.task))
    if facts.history:
        seconds = sum(float(record.get("seconds", 0.0)) for record in facts.history)
        count = len(facts.history)
        kept = "" if facts.epoch in (None, count) else f"; the posterior is that of epoch {facts.epoch}, the best one"
        if has_noise(facts):
            level = noise_levels(facts)[(facts.epoch or count) - 1]
            text = ", ".join(number(value, 3) for value in level[:5]) + (", …" if len(level) > 5 else "")
            meaning = f"standard deviation of the noise in the {TASKS[facts.task].noise_in}, as learned"
            lines.append(Line("Noise level", text, meaning))
        meaning = f"{count} {'epoch' if count == 1 else 'epochs'}, compilation included{kept}"
        lines.append(Line("Training time", duration(seconds), meaning))
    if facts.held is not None:
        lines.insert(1, Line("Rows scored", f"{len(facts.held.y):,}", facts.held.where))
    return lines


def groups(left: int, total: int) -> Line:
    """What `keep` counts."""
    return Line(
        "Groups", f"{left:,} of {total:,}", "what keep counts: hidden units, and inputs or groups of them that may go"
    )


def pruning(loss: PruningLoss, task: str) -> Line:
    """What pruning costs."""
    name, lost = TASKS[task].quality, loss.accuracy
    verdict = (
        "more than chance explains: use a larger keep" if loss.hurts else "no more than chance explains, or little"
    )
    before, after = (number(value, 3) for value in (loss.accuracy_before, loss.accuracy_after))
    text = f"{number(lost.mean, 2)} ± {number(lost.std_error, 2)}"
    return Line("Lost by pruning", text, f"{name} on rows not trained on, {before} before and {after} after: {verdict}")


def tiles(lines: list[Line]) -> str:
    """HTML of the headline numbers."""
    parts = [
        f'<div class="tile"><dt>{safe(line.name)}</dt>'
        f'<dd class="big">{safe(line.value)}</dd><dd>{safe(line.meaning)}</dd></div>'
        for line in lines
    ]
    return f'<dl class="tiles">{"".join(parts)}</dl>'


def table(lines: list[Line]) -> str:
    """HTML table of all numbers with their meaning."""
    rows = [
        f'<tr><th scope="row">{safe(line.name)}</th>'
        f'<td class="value">{safe(line.value)}</td><td class="meaning">{safe(line.meaning)}</td></tr>'
        for line in lines
    ]
    return f'<div class="card"><table class="summary"><tbody>{"".join(rows)}</tbody></table></div>'


def _before_after(before: int, after: int) -> str:
    return f"{before:,} → {after:,}" if after != before else f"{before:,}"
