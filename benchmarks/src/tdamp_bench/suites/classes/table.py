"""Tables of the class probabilities, for the terminal and for a Markdown file."""

from __future__ import annotations

from typing import Any, NamedTuple

from rich.console import Console

from ...core.tables import grid, section, show_verdicts, verdict_text, verdict_word
from .contenders import LABELS
from .sets import TITLES

SHOWN_ANGLES = 7
"""At most so many angles fit on a line."""


class Table(NamedTuple):
    """A title, column heads, and rows of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def tables(summarised: dict[str, Any]) -> list[Table]:
    """Everything that was measured, means over the seeds."""
    methods = summarised["methods"]
    means = {LABELS[name]: one["mean"] for name, one in methods.items()}
    count = len(summarised["seeds"])
    seeds = f"mean of {count} seeds" if count > 1 else "one seed"
    return [_test(methods, seeds), *_turned(means, seeds), _outside(means, seeds), _small(means, seeds)]


def _test(methods: dict[str, Any], seeds: str) -> Table:
    columns = ["", "error %", "NLL", "ECE %", "adaptive ECE %", "Brier", "AURC x 1000", "training s", "x tdamp"]
    ours = methods["tdamp"]["mean"]["seconds"]["processor"] if "tdamp" in methods else None
    rows = []
    for name, one in methods.items():
        test, wide = one["mean"]["test"], one["standard_error"]
        cells = [
            _with_error(test, wide, key, scale, digits)
            for key, scale, digits in (
                ("error", 100, 2), ("nll", 1, 4), ("ece", 100, 2), ("adaptive_ece", 100, 2), ("brier", 1, 4),
                ("aurc", 1000, 2),
            )
        ]  # fmt: skip
        spent = one["mean"]["seconds"]["processor"]
        rows.append([LABELS[name], *cells, f"{spent:.1f}", f"{spent / ours:.2f}" if ours else ""])
    return Table(f"MNIST test digits, {seeds} (standard error); seconds of the processor", columns, rows)


def _with_error(test: dict[str, Any], wide: dict[str, float], key: str, scale: float, digits: int) -> str:
    text = f"{scale * test[key]:.{digits}f}"
    return f"{text} ({scale * wide[key]:.{digits}f})" if key in wide else text


def _turned(means: dict[str, Any], seeds: str) -> list[Table]:
    angles = list(next(iter(means.values()))["turned"]) if means else []
    step = -(-len(angles) // SHOWN_ANGLES) or 1
    shown = angles[::step]
    kinds = (("nll", "NLL", 1.0, 2), ("error", "error in %", 100.0, 1), ("entropy", "mean entropy", 1.0, 2))
    return [
        Table(
            f"Test digits turned by an angle, {title}, {seeds}",
            ["", *(f"{angle}°" for angle in shown)],
            [
                [label, *(f"{scale * mean['turned'][angle][key]:.{digits}f}" for angle in shown)]
                for label, mean in means.items()
            ],
        )
        for key, title, scale, digits in kinds
    ]


def _outside(means: dict[str, Any], seeds: str) -> Table:
    rows = [
        [
            label,
            *(f"{mean['outside'][name]['entropy']:.4f} / {mean['outside'][name]['max_prob']:.4f}" for name in TITLES),
        ]
        for label, mean in means.items()
    ]
    title = f"Test digits against what are none, AUROC by entropy / by the largest probability, {seeds}"
    return Table(title, ["", *TITLES.values()], rows)


def _small(means: dict[str, Any], seeds: str) -> Table:
    rows = [
        [label, f"{100 * one['error']:.1f}", f"{one['nll']:.3f}", f"{one['entropy']:.3f}"]
        for label, one in ((label, mean["small_digits"]) for label, mean in means.items())
    ]
    return Table(f"scikit-learn's 8 x 8 digits, enlarged, {seeds}", ["", "error %", "NLL", "mean entropy"], rows)


def show(console: Console, part: dict[str, Any]) -> None:
    """On the terminal, the verdicts last."""
    for table in tables(part):
        console.print(grid(*table))
    show_verdicts(console, part["verdicts"])


def markdown(part: dict[str, Any], quick: bool) -> str:
    """As a page."""
    lines = ["# Class probabilities on MNIST", ""]
    if quick:
        lines += ["A quick run: its numbers mean nothing.", ""]
    for title, columns, rows in tables(part):
        lines += section(title, columns, rows)
    lines += ["## Verdicts", ""]
    lines += [f"- {verdict_word(one)}: {verdict_text(one)}" for one in part["verdicts"]]
    return "\n".join(lines) + "\n"
