"""Flower's programs as real processes for a test: logs in files, and ends that leave nothing running."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from helpers.guard import HANGS
from tdamp.federated.flower.simulation import program


class Processes:
    """Starts programs; at the end of the block all of them and what they started are killed, each by its pid."""

    def __init__(self, logs: Path, around: dict[str, str]) -> None:
        self.logs, self.around, self.deadline = logs, around, time.monotonic() + HANGS
        self.started: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.started)[::-1]:
            self.kill(name)

    def start(self, name: str, command: str, folder: Path, programs: Path | None = None) -> subprocess.Popen[bytes]:
        """In the background; what it starts itself is looked for in `programs` first."""
        words, path = shlex.split(command), self.around["PATH"]
        around = self.around if programs is None else self.around | {"PATH": f"{programs}{os.pathsep}{path}"}
        with self.log(name).open("wb") as log:
            self.started[name] = subprocess.Popen(
                [program(words[0]), *words[1:]], cwd=folder, env=around, stdout=log, stderr=log
            )
        return self.started[name]

    def run(self, command: str, folder: Path) -> str:
        """To its end, which must be a good one."""
        words, left = shlex.split(command), max(self.deadline - time.monotonic(), 1)
        done = subprocess.run(
            [program(words[0]), *words[1:]], cwd=folder, env=self.around, text=True, capture_output=True, timeout=left
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def log_text(self, name: str) -> str:
        return self.log(name).read_text(errors="replace")

    def wait(self, what: str, until: Callable[[], bool]) -> None:
        """Until something is so, or the test's time is over."""
        while not until():
            assert time.monotonic() < self.deadline, "\n".join(
                [f"waited for {what}", *map(self.log_text, self.started)]
            )
            time.sleep(0.3)

    def kill(self, name: str) -> None:
        """At once, with all its descendants."""
        process = self.started.pop(name)
        for each in [process.pid, *descendants(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()


class Hanging:
    """A client that stands still in the middle of a message: its ClientApp never begins the one with this number."""

    def __init__(self, folder: Path, message: int) -> None:
        self.programs, self._calls = folder / "programs", folder / "calls"
        self.programs.mkdir()
        self._message = message
        app = self.programs / "flwr-clientapp"
        app.write_text(
            f'#!/bin/sh\necho >> "{self._calls}"\n'
            f'[ "$(wc -l < "{self._calls}")" -lt {message} ] && exec "{program("flwr-clientapp")}" "$@"\n'
            "exec sleep 86400\n"
        )
        app.chmod(0o755)

    def stands(self) -> bool:
        """Whether it has come to that message."""
        return self._calls.exists() and len(self._calls.read_text().splitlines()) >= self._message


def descendants(pid: int) -> list[int]:
    """Children and their children, from the system's list of processes."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], text=True, capture_output=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in listed.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    result, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        result += below
        queue += below
    return result
