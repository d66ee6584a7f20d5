"""Flower's programs as child processes: what `tdamp federate run` needs to run an app on the simulation engine.

The engine is Flower's, with Ray beneath: each client is a task of its own process. All stays on 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..._optional import MissingExtra, need
from ...io.cache import VARIABLE, cache_folder

QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""No telemetry, no looking for updates, no installing of packages; Flower reads them when it is imported."""

NAME = "simulation"
START_SECONDS = 1800.0
STOP_SECONDS = 120.0
"""Last guards against a process that hangs; a slow machine must not come near them."""


class EngineFailed(RuntimeError):
    """A run did not come to its end."""


def environment(home: Path) -> dict[str, str]:
    """The environment of Flower's programs: their settings in `home`, which is also the home that Ray sees."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "ray_bootstrap_config.yaml").write_text("{}\n")  # with it Ray does not look for a cloud around it
    programs = str(Path(sys.executable).parent)
    return {
        **os.environ,
        **QUIET,
        "FLWR_HOME": str(home),
        "HOME": str(home),
        VARIABLE: str(cache_folder()),  # the user's own, with the compiled code
        "PATH": os.pathsep.join([programs, os.environ.get("PATH", "")]),
    }


def program(name: str) -> str:
    """One of Flower's programs, beside this Python."""
    path = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if path is None:
        raise MissingExtra(f"The program {name} is not there. Install it with: pip install 'tdamp[federated]'")
    return path


def simulate(app: Path, clients: int, line: Callable[[str], None]) -> None:
    """Run an app with as many simulated clients; `line` is given what its log says. EngineFailed if it fails."""
    need("ray", "federated")
    with tempfile.TemporaryDirectory(prefix="tdamp-flower-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        around = environment(home)
        with _link(home, around) as log:
            size = f"num-supernodes={clients} client-resources-num-cpus=1"
            command = [program("flwr"), "run", str(app), NAME, "--stream", "--federation-config", size]
            with subprocess.Popen(
                command, env=around, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            ) as run:
                assert run.stdout is not None
                for text in run.stdout:
                    line(text.rstrip("\n"))
            status = _status(around)
            if status != "finished:completed":
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                raise EngineFailed(f"the run ended as {status!r}: look at the lines above.\n{tail}")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until a process listens, or EngineFailed with the end of its log."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    raise EngineFailed(f"{process.args!r} did not start to listen:\n{tail}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process in order; its own children end with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def _link(home: Path, around: dict[str, str]) -> Iterator[Path]:
    """A SuperLink for simulations while the block runs; gives its log."""
    port, log = free_port(), home / "superlink.log"
    (home / "config.toml").write_text(f'[superlink.{NAME}]\naddress = "127.0.0.1:{port}"\ninsecure = true\n')
    command = [program("flower-superlink"), "--insecure", "--simulation", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as file:
        link = subprocess.Popen(
            [*command, "--disable-runtime-dependency-installation"], env=around, stdout=file, stderr=file
        )
    try:
        wait_for(port, link, log)
        yield log
    finally:
        stop(link)


def _status(around: dict[str, str]) -> str:
    """Status of the only run; `flwr run` itself ends with 0 whatever happened."""
    command = [program("flwr"), "list", NAME, "--format", "json"]
    done = subprocess.run(command, env=around, text=True, capture_output=True, timeout=START_SECONDS)
    try:
        return str(json.loads(done.stdout)["runs"][0]["status"])
    except (ValueError, KeyError, IndexError):
        return f"unknown ({done.stdout.strip() or done.stderr.strip()})"
