"""Exit codes of the commands, and which errors are shown as one line instead of a traceback."""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .output import PACKAGES

OK, FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141
"""130 and 141 are what a shell shows for a command that Ctrl-C or a closed pipe has ended."""

REPEAT_AFTER = 0.02
"""Seconds after which a lost interrupt comes again: by then the garbage collection is over."""


class CommandError(Exception):
    """Ends a command; the message says what was wrong, what was expected and what to do."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def exit_code(error: BaseException) -> int | None:
    """The exit code of an error whose message is for people, or None for one that is a bug.

    The errors of the package's own classes are for people: something is missing (a library, a data set), or the data
    or the model are at fault. So are those of the operating system: a file that cannot be read or written.
    """
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, OSError):
        return USAGE
    if not type(error).__module__.startswith(PACKAGES):
        return None
    return USAGE if isinstance(error, ImportError) else FAILED


def error_message(error: BaseException) -> str:
    """The one line that is printed for an error."""
    if isinstance(error, OSError) and error.strerror and not type(error).__module__.startswith(PACKAGES):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}. Check the path, its permissions and the space left."
    return str(error)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: one that falls into the import of a compiled library comes out as another."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def repeat_lost_interrupts() -> Iterator[None]:
    """Ctrl-C that falls into a garbage collection, whose errors Python ignores, comes again a moment later."""
    usual = sys.unraisablehook

    def hook(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            return usual(ignored)
        try:
            threading.Timer(REPEAT_AFTER, _thread.interrupt_main).start()
        except KeyboardInterrupt:  # on a busy machine it comes before `start` is back; an error of a hook is lost
            hook(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual
