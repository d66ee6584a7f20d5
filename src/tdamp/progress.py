"""What `verbose` shows while a network is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .events import in_words
from .training import Fitted

Show = Callable[[int, Fitted, dict[str, Any]], None]


@contextmanager
def counting(
    verbose: int, unit: str, total: int, console: Console | None = None
) -> Iterator[Callable[[int, dict[str, Any]], None] | None]:
    """A function of (how many are done, the last record): 0 shows nothing, 1 a bar, 2 and more a line for each."""
    console = console or Console(stderr=True)
    if verbose <= 0:
        yield None
        return
    if verbose > 1:
        yield lambda done, record: console.print(f"{unit} {done}  {in_words(record)}", highlight=False)
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
        yield lambda done, record: progress.update(task, completed=done, now=in_words(record))


@contextmanager
def watching(verbose: int, epochs: int, done: int = 0, console: Console | None = None) -> Iterator[Show | None]:
    """A callback for `fit`: 0 shows nothing, 1 a progress bar, 2 and more a line for each epoch."""
    before = done if verbose == 1 else 0  # a bar counts this fit's epochs, lines go on counting
    with counting(verbose, "epoch", epochs, console) as show:
        yield None if show is None else lambda epoch, fitted, record: show(epoch - before, record)
