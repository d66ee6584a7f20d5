"""Progress bars with the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Tick = Callable[[str], None]


def silent(what: str) -> None:
    """A tick that shows nothing."""


@contextmanager
def bar(console: Console, title: str, total: int) -> Iterator[Tick]:
    """A bar of `total` steps; each call of the tick says what was just done."""
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=total, what="")
        yield lambda what: progress.update(task, advance=1, what=what)
