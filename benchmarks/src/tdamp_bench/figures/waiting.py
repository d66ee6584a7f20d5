"""Progress of a long figure: a bar on a terminal, a line now and then in a log file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from ..core.progress import Tick, bar

EVERY = 30.0
"""Seconds between two lines of a log."""


@contextmanager
def waiting(console: Console, title: str, total: int, clock: Callable[[], float] = time.monotonic) -> Iterator[Tick]:
    """A tick to be called once for each of `total` runs; nothing is shown where there are none."""
    if not total or not console.is_terminal:
        yield _lines(console, title, total, clock)
        return
    with bar(console, title, total) as tick:
        yield tick


def _lines(console: Console, title: str, total: int, clock: Callable[[], float]) -> Tick:
    started = shown = clock()
    done = 0

    def tick(what: str) -> None:
        nonlocal done, shown
        done += 1
        now = clock()
        if now - shown >= EVERY:
            shown = now
            left = (now - started) / done * max(total - done, 0) / 60
            console.print(f"{title}: {done} of {total} runs, {left:.0f} min left; {what}", highlight=False)

    return tick
