"""What `verbose` shows while a network is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .events import in_words
from .fitted import Fitted

Show = Callable[[float, Fitted | None, dict[str, Any]], None]


@contextmanager
def counting(
    verbose: int, unit: str, total: int, console: Console | None = None
) -> Iterator[Callable[[float, dict[str, Any]], None] | None]:
    """A function of (how many are done, the last record): 0 shows nothing, 1 a bar, 2 and more a line for each.

    An empty record says that one is on its way: the bar moves.
    """
    console = console or Console(stderr=True)
    if verbose <= 0:
        yield None
        return
    if verbose > 1:
        yield (
            lambda done, record: (
                console.print(f"{unit} {done}  {in_words(record)}", highlight=False) if record else None
            )
        )
        return
    columns = (
        TextColumn("[bold]training"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=total, now="compiling")

        def show(done: float, record: dict[str, Any]) -> None:
            progress.update(task, completed=done)
            if record:
                progress.update(task, now=in_words(record))

        yield show


@contextmanager
def watching(verbose: int, epochs: int, done: int = 0, console: Console | None = None) -> Iterator[Show | None]:
    """A callback for `fit`: 0 shows nothing, 1 a progress bar, 2 and more a line for each epoch."""
    before = done if verbose == 1 else 0  # a bar counts this fit's epochs, lines go on counting
    with counting(verbose, "epoch", epochs, console) as show:
        yield None if show is None else lambda epoch, fitted, record: show(epoch - before, record)


@contextmanager
def reading(
    verbose: int, what: str, total: int | None, console: Console | None = None
) -> Iterator[Callable[[int], None] | None]:
    """A function of the rows that are done; a bar, unless `verbose` is 0. Without a `total` it moves to and fro."""
    if verbose <= 0:
        yield None
        return
    columns = (
        TextColumn(f"[bold]{what}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,} rows"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console or Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda rows: progress.update(task, completed=rows)
