"""Programs that stand in for the tools that download packages."""

from __future__ import annotations

import sys
from pathlib import Path


def stand_in(folder: Path, code: str) -> tuple[str, ...]:
    """A program that notes its arguments and its folder in `folder`/calls, then runs `code`."""
    program, calls = folder / "tool.py", folder / "calls"
    note = f"open({str(calls)!r}, 'a').write(' '.join([os.getcwd(), *sys.argv[1:]]) + '\\n')"
    program.write_text(f"import os, shutil, sys\n{note}\n{code}\n")
    return sys.executable, str(program)


def fails(text: str, code: int = 1) -> str:
    """The code of a program that writes `text` to standard error and ends with `code`."""
    return f"sys.stderr.write({text!r}); sys.exit({code})"


def calls(folder: Path) -> list[str]:
    """The folder in which it was started and its arguments, for each time that it was."""
    return (folder / "calls").read_text().splitlines() if (folder / "calls").exists() else []
