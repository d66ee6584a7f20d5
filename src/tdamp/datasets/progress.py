"""Progress of a download: a status line, a function of the caller, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str], None]
Progress = bool | Report
"""True: a status line on standard error; False: silence; a function: it is called with each line of text."""


@contextmanager
def reporting(progress: Progress) -> Iterator[Report]:
    """A function that shows one line of text, each in place of the last."""
    if callable(progress):
        yield progress
    elif not progress:
        yield _ignore
    else:
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        if console.is_terminal:
            with console.status("") as status:
                yield lambda text: status.update(Text(text))
        else:
            yield _first_only(lambda text: console.print(Text(text)))


def _ignore(text: str) -> None:
    return None


def _first_only(report: Report) -> Report:
    """A log file wants one line per download, not one per megabyte."""
    reported = False

    def once(text: str) -> None:
        nonlocal reported
        if not reported:
            report(text)
        reported = True

    return once
