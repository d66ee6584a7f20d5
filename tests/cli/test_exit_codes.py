"""Exit codes, and interrupts that come at a bad moment."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from tdamp._optional import MissingExtra
from tdamp.cli import exit_codes
from tdamp.tables import MissingLibrary, TableError


def test_exit_codes() -> None:
    """contract: what is missing is 2, what is wrong with data is 1, a bug is nobody's message."""
    assert exit_codes.exit_code(exit_codes.CommandError("x", 130)) == 130
    assert exit_codes.exit_code(MissingExtra("x")) == exit_codes.exit_code(MissingLibrary("x")) == 2
    assert exit_codes.exit_code(PermissionError(13, "Permission denied", "there")) == 2
    assert exit_codes.exit_code(TableError("x")) == 1
    assert exit_codes.exit_code(ValueError("x")) is None and exit_codes.exit_code(KeyError("x")) is None
    assert exit_codes.error_message(PermissionError(13, "Permission denied", "there")).startswith(
        "there: Permission denied"
    )


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is handled, also where these tests run in the background of a shell, which lets it be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupted:
    """Ctrl-C falls into its finaliser, whose errors Python ignores."""

    def __del__(self) -> None:
        raise KeyboardInterrupt


def wait_for_interrupt() -> None:
    """In short sleeps, after each of which Python looks for signals; ten minutes without one are too many."""
    for _ in range(60_000):
        time.sleep(0.01)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_that_python_ignores_comes_again() -> None:
    """identity: Ctrl-C inside a finaliser is lost to Python; the wait below would end without it."""
    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), exit_codes.repeat_lost_interrupts():
        Interrupted()
        wait_for_interrupt()
    assert sys.unraisablehook is before


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_that_comes_again_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """identity: on a busy machine it falls into the hook, whose errors are ignored too: it comes a third time."""

    class Hasty(threading.Timer):
        """Its time is over before `start` is back, twice."""

        started = 0

        def start(self) -> None:
            Hasty.started += 1
            self.interval = 0.0 if Hasty.started < 3 else self.interval
            super().start()
            if Hasty.started < 3:
                wait_for_interrupt()

    monkeypatch.setattr(threading, "Timer", Hasty)
    with pytest.raises(KeyboardInterrupt), exit_codes.repeat_lost_interrupts():
        Interrupted()
        assert Hasty.started == 3
        wait_for_interrupt()


def test_ctrl_c_behind_another_error() -> None:
    """contract: itself, as a cause, as a context; not without it."""
    caused, around = SystemError("import"), ImportError("numpy")
    caused.__cause__ = KeyboardInterrupt()
    around.__context__ = caused
    assert all(map(exit_codes.is_interrupt, (KeyboardInterrupt(), caused, around)))
    assert not exit_codes.is_interrupt(None) and not exit_codes.is_interrupt(ValueError())
