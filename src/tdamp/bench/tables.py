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


def show_verdicts(console: Console, verdicts: Sequence[dict[str, Any]]) -> None:
    """One line a claim: kept or missed, the number, the limit."""
    for verdict in verdicts:
        mark = "[green]kept  [/]" if verdict["met"] else "[red]missed[/]"
        console.print(
            f"{mark} {verdict['claim']}: {verdict['value']:.4g} ({verdict['sense']} {verdict['limit']:.4g})",
            highlight=False,
            soft_wrap=True,
        )
