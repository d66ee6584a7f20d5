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

from tdamp.federated.engine import program


class Processes:
    """Starts programs; at the end of the block all of them and what they started are killed, each by its pid."""

    def __init__(self, logs: Path, around: dict[str, str], deadline: float) -> None:
        self.logs, self.around, self.deadline = logs, around, deadline
        self.started: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.started)[::-1]:
            self.kill(name)

    def start(self, name: str, command: str, folder: Path) -> subprocess.Popen[bytes]:
        """In the background."""
        words = shlex.split(command)
        with self.log(name).open("wb") as log:
            self.started[name] = subprocess.Popen(
                [program(words[0]), *words[1:]], cwd=folder, env=self.around, stdout=log, stderr=log
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

    def said(self, name: str) -> str:
        return self.log(name).read_text(errors="replace")

    def wait(self, what: str, until: Callable[[], bool]) -> None:
        """Until something is so, or the test's time is over."""
        while not until():
            assert time.monotonic() < self.deadline, "\n".join([f"waited for {what}", *map(self.said, self.started)])
            time.sleep(0.3)

    def kill(self, name: str) -> None:
        """At once, with all its descendants."""
        self._signal(name, signal.SIGKILL)
        self.started.pop(name).wait()

    def pause(self, name: str) -> None:
        """Let it stand still, with all its descendants, as if its machine were very slow."""
        self._signal(name, signal.SIGSTOP)

    def _signal(self, name: str, number: int) -> None:
        pid = self.started[name].pid
        for each in [pid, *descendants(pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, number)


def descendants(pid: int) -> list[int]:
    """Children and their children, from the system's list of processes."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], text=True, capture_output=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in listed.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found
