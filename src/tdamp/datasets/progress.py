"""Telling people how a download goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Say = Callable[[str], None]
Progress = bool | Say
"""True: a status line on standard error; False: silence; a function: it is called with each line of text."""


@contextmanager
def shown(progress: Progress) -> Iterator[Say]:
    """A function that shows one line of text, each in place of the last."""
    if callable(progress):
        yield progress
    elif not progress:
        yield _silence
    else:
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        if console.is_terminal:
            with console.status("") as status:
                yield lambda text: status.update(Text(text))
        else:
            yield _first_only(lambda text: console.print(Text(text)))


def _silence(text: str) -> None:
    return None


def _first_only(say: Say) -> Say:
    """A log file wants one line per download, not one per megabyte."""
    spoken = False

    def once(text: str) -> None:
        nonlocal spoken
        if not spoken:
            say(text)
        spoken = True

    return once
