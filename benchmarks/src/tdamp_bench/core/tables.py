"""What the terminal shows: verdicts and plain tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table whose first column is text and whose others are numbers."""
    table = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left")
    for row in rows:
        table.add_row(*row)
    return table


def section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The same as the lines of a section."""
    heads = [_line(columns), _line(["---", *["---:"] * (len(columns) - 1)])]
    return [f"## {title}", "", *heads, *map(_line, rows), ""]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def show_verdicts(console: Console, verdicts: Sequence[dict[str, Any]]) -> None:
    """One line a claim: kept, tied or missed, the number, the limit."""
    colors = {"kept": "green", "tied": "yellow", "missed": "red"}
    for verdict in verdicts:
        word = verdict_word(verdict)
        console.print(f"[{colors[word]}]{word:6}[/] {verdict_text(verdict)}", highlight=False, soft_wrap=True)


def verdict_word(verdict: dict[str, Any]) -> str:
    """kept, tied or missed; files written before ties were distinguished have none."""
    return "kept" if verdict["met"] else "tied" if verdict.get("tied") else "missed"


def verdict_text(verdict: dict[str, Any]) -> str:
    """The claim, the number, the limit. A difference of which no error is known, such as a single seed's, is none."""
    value = verdict["value"]
    unknown = value is None or value != value
    number = "not known" if unknown else f"{float(value):.4g}"
    return f"{verdict['claim']}: {number} ({verdict['sense']} {verdict['limit']:.4g})"
