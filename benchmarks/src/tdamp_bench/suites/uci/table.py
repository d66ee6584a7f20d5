"""Tables of the benchmark, for the terminal and for a Markdown page: one row a data set, the best figure in bold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from ...core.tables import grid, section, show_verdicts, verdict_text, verdict_word
from . import published
from .methods import METHODS
from .protocol import SETS
from .published import PUBLISHED

Summary = dict[str, dict[str, Any]]
"""summary[set][method], as `scores.summary` has it."""
SCORES = {"rmse": "Test RMSE", "nll": "Test NLL in nats"}
PLAIN: dict[str, Callable[[dict[str, Any]], str]] = {
    "Coverage of 95 % intervals in %, and their mean width": lambda mean: (
        f"{100 * mean['coverage']:.1f} ({mean['width']:.3g})"
    ),
    "Seconds a split": lambda mean: f"{mean['seconds']:.1f}",
}
PREFACE = """\
Splits and sizes of "Probabilistic backpropagation": random 90 % / 10 % splits, one hidden layer of 50 units (100 for
protein). PBP, MC dropout and deep ensembles are as printed in the literature. The others were run here, on the same
splits, and show the mean and its standard error: tdamp with its defaults on every table, a Gaussian process (GP),
pytagi, an ensemble of five networks trained by Adam, or by Adam or AdamW with cosine decay, weight decay and dropout,
and a Laplace approximation (laplace-torch). What a peer tunes, always on training rows alone, stands in its module
(`tdamp_bench.methods.baselines`). Bold is the lowest mean, not rounded.

This is no test of the defaults on tables that they have not met: they were chosen by hand, in some thirty trials, on
parts of these same tables. The trials used the training rows of the first split, most of which are test rows of other
splits; an earlier version was also looked at on the first five test splits. tdamp predicts Student's t, peers a
Gaussian.
"""
LOAD = "No comparison of speed: the runs were made at different times, beside others on the same machine."
"""Under the seconds, which come last."""
NOT_RUN = "-"
ROW_LIMIT = "A dash: not run. The Gaussian process takes part up to {limit} training rows.\n"
BOSTON = """\
Boston housing has a known ethical problem: one of its columns is a racial variable, built by its authors on the
assumption that segregation raises house prices. It is here only because the published figures are on it.
"""


class Table(NamedTuple):
    """A title, column heads, and rows of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def tables(summary: Summary) -> list[Table]:
    """RMSE and NLL beside the published figures; coverage and seconds of the runs made here."""
    here = [method for method in METHODS if any(method in methods for methods in summary.values())]
    labels = [METHODS[method].label for method in here]
    names = [_name(name, methods) for name, methods in summary.items()]
    tables = []
    for key, title in SCORES.items():
        cells = [_scores(name, methods, here, key) for name, methods in summary.items()]
        tables.append(Table(title, ["", *published.LABELS.values(), *labels], _named(names, cells)))
    for title, text in PLAIN.items():
        cells = [[text(methods[m]["mean"]) if m in methods else NOT_RUN for m in here] for methods in summary.values()]
        tables.append(Table(title, ["", *labels], _named(names, cells)))
    return tables


def _named(names: list[str], cells: list[list[str]]) -> list[list[str]]:
    return [[name, *row] for name, row in zip(names, cells, strict=True)]


def _name(name: str, methods: dict[str, Any]) -> str:
    """With the number of splits, where some are missing."""
    least, all_of_them = min(one["splits"] for one in methods.values()), SETS[name].splits
    title = SETS[name].title
    return title if least == all_of_them else f"{title}, {least} of {all_of_them} splits"


def _scores(name: str, methods: dict[str, Any], here: Sequence[str], key: str) -> list[str]:
    """Published and measured, the lowest in bold."""
    values = [getattr(figures, key) for figures in PUBLISHED[name].values()]
    texts = [f"{value:.2f}" for value in values]
    for method in here:
        one = methods.get(method)
        values.append(one["mean"][key] if one else np.inf)
        digits = 2 if key == "rmse" and PUBLISHED[name]["pbp"].rmse >= 1 else 3
        texts.append(_with_error(one, key, digits) if one else NOT_RUN)
    return [f"**{text}**" if value == min(values) else text for text, value in zip(texts, values, strict=True)]


def _with_error(one: dict[str, Any], key: str, digits: int) -> str:
    text = f"{one['mean'][key]:.{digits}f}"
    return f"{text} ± {one['error'][key]:.{digits}f}" if one["splits"] > 1 else text


def show(console: Console, summary: Summary, verdicts: Sequence[dict[str, Any]]) -> None:
    """On the terminal, the verdicts last."""
    for table in tables(summary):
        rows = [[cell.replace("**", "*") for cell in row] for row in table.rows]
        console.print(grid(table.title, table.columns, rows))
    show_verdicts(console, verdicts)


def markdown(summary: Summary, verdicts: Sequence[dict[str, Any]], quick: bool) -> str:
    """As a page."""
    lines = ["# Regression tables of the UCI repository", ""]
    if quick:
        lines += ["A quick run: its numbers and verdicts mean nothing.", ""]
    lines += [PREFACE, ROW_LIMIT.format(limit=METHODS["gp"].most_rows)]
    lines += [BOSTON] if "boston" in summary else []
    for title, columns, rows in tables(summary):
        lines += section(title, columns, rows)
    lines += [LOAD, "", "## Verdicts", ""]
    lines += [f"- {verdict_word(one)}: {verdict_text(one)}" for one in verdicts]
    return "\n".join(lines) + "\n"
