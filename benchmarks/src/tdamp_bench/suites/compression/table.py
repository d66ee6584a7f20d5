"""The tables, for the terminal and for pages: a row a size, a column an arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich.console import Console

from ...core.tables import grid, section, show_verdicts, verdict_text, verdict_word
from .published import points_of
from .summary import Row
from .tasks import LENETS, PARTS

NOT_RUN = "-"
NOT_MADE = "Not made yet."
PICTURES = {
    "mnist": ("compression", "Test error and NLL on MNIST against units, parameters and multiply-adds"),
    "tables": ("compression-tables", "Test loss on six tables against bytes"),
}
QUICK = "A quick run: its numbers and verdicts mean nothing."


class Table(NamedTuple):
    """A title, column heads, and rows of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def of_digits(rows: Sequence[Row]) -> list[Table]:
    """Error, NLL and sizes of the networks on MNIST, beside the published error."""
    here = [row for row in rows if row["task"] in LENETS]
    return [
        _table("Test error in %", here, _scores("loss", 100, 2), published=True),
        _table("Test NLL in nats", here, _scores("nll", 1, 4)),
        _table("Units by layer of seed 0, parameters and multiply-adds in thousands", here, _sizes),
        _table("Seconds a run", here, lambda row: f"{row['seconds']['mean']:.0f}"),
    ]


def of_tables(rows: Sequence[Row]) -> list[Table]:
    """R2 or accuracy, log score and bytes on the tables."""
    here = [row for row in rows if row["task"] not in LENETS]
    return [
        _table("Test R2 (regression) or accuracy", here, _quality),
        _table("Test log score in nats; of regressions, with targets of variance one", here, _scores("nll", -1, 3)),
        _table("Bytes", here, lambda row: f"{row['bytes']['mean']:.0f}"),
        _table("Seconds a run", here, lambda row: f"{row['seconds']['mean']:.1f}"),
    ]


def _table(title: str, rows: Sequence[Row], cell: Callable[[Row], str], published: bool = False) -> Table:
    labels = dict.fromkeys(row["label"] for row in rows)
    lines = []
    for task, keep in dict.fromkeys((row["task"], row["keep"]) for row in rows):
        here = {row["label"]: row for row in rows if (row["task"], row["keep"]) == (task, keep)}
        name, error = _size(next(iter(here.values())))
        cells = [cell(here[label]) if label in here else NOT_RUN for label in labels]
        lines.append([name, *([error] if published else []), *cells])
    return Table(title, ["", *(["published"] if published else []), *labels], lines)


def _size(row: Row) -> tuple[str, str]:
    """What is asked for, and the published error."""
    units = round(row["units"]["mean"])
    for point in points_of(row["task"]):
        if point.units == units:
            kept = "-".join(map(str, point.kept))
            return f"{row['title']}, {units} units ({point.name}: {kept})", f"{100 * point.error:.1f}"
    return f"{row['title']}, keep {row['keep']:g}", NOT_RUN


def _scores(key: str, scale: float, digits: int) -> Callable[[Row], str]:
    return lambda row: with_error(row[key], scale, digits)


def _quality(row: Row) -> str:
    return with_error(row["loss"] | {"mean": 1 - float(row["loss"]["mean"])}, 1, 3)


def with_error(value: dict[str, Any], scale: float, digits: int) -> str:
    """Mean and standard error, where that is known."""
    mean, se = float(value["mean"]), value["se"]
    known = se is not None and se == se
    return f"{scale * mean:.{digits}f}" + (f" ± {abs(scale) * se:.{digits}f}" if known else "")


def _sizes(row: Row) -> str:
    widths = "-".join(map(str, row["widths"][0][:-1]))
    return f"{widths}; {row['params']['mean'] / 1e3:.1f}; {row['multiply_adds']['mean'] / 1e3:.1f}"


def show(console: Console, report: dict[str, Any]) -> None:
    """On the terminal, the verdicts last."""
    for table in tables(report):
        console.print(grid(*table))
    show_verdicts(console, report["verdicts"])


def tables(report: dict[str, Any]) -> list[Table]:
    """Those that have rows."""
    rows = report["rows"]
    return [table for table in (*of_digits(rows), *of_tables(rows)) if table.rows]


def page(report: dict[str, Any]) -> str:
    """As Markdown."""
    lines = ["# Networks of an exact size", ""] + ([QUICK, ""] if report["quick"] else [])
    return "\n".join([*lines, *sections(tables(report)), *verdict_lines(report)]) + "\n"


def block(report: dict[str, Any], part: str) -> str:
    """Plot, tables and verdicts of a part, for the documentation; headings are a level lower than those of a page."""
    names = PARTS[part]
    made = report | {"rows": [row for row in report["rows"] if row["task"] in names]}
    if not made["rows"]:
        return NOT_MADE
    titles = tuple(f"{row['title']}," for row in made["rows"])
    made["verdicts"] = [one for one in report["verdicts"] if one["claim"].startswith(titles)]
    picture = f"![{PICTURES[part][1]}](figures/{PICTURES[part][0]}.png)"
    lines = [*sections(tables(made)), *verdict_lines(made)]
    return "\n".join([picture, "", *(f"#{line}" if line.startswith("## ") else line for line in lines)])


def sections(tables: Sequence[Table]) -> list[str]:
    """The lines of tables."""
    return [line for table in tables for line in section(*table)]


def verdict_lines(report: dict[str, Any]) -> list[str]:
    """A list."""
    return ["## Verdicts", "", *(f"- {verdict_word(one)}: {verdict_text(one)}" for one in report["verdicts"])]
