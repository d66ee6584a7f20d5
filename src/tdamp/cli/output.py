"""What a command prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..io.jsonable import jsonable

PACKAGES = "tdamp.", "tdamp_bench."
"""Packages whose errors and warnings are written for people."""


def print_status(text: str) -> None:
    """Print a line on standard error."""
    print(f"tdamp: {text}", file=sys.stderr)


def print_json(result: dict[str, Any]) -> None:
    """Print the one JSON object of `--json`; numbers that are not finite are null."""
    print(json.dumps(jsonable(result), allow_nan=False))


def format_number(value: float | None, digits: int = 4) -> str:
    """A number as text for reading; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


def align_columns(rows: Sequence[Sequence[str]], indent: str = "  ", left: Sequence[int] = (0,)) -> str:
    """Rows of cells as lines of text: the columns `left` are aligned to the left, the others to the right."""
    size = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    lines = []
    for row in rows:
        cells = [cell.ljust(size[i]) if i in left else cell.rjust(size[i]) for i, cell in enumerate(row)]
        lines.append(f"{indent}{'  '.join(cells)}".rstrip())
    return "\n".join(lines)


@contextmanager
def print_warnings_plainly() -> Iterator[None]:
    """Print warnings of this package as status lines, without file names and source."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def print_plainly(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if category.__module__.startswith(PACKAGES):
                print_status(str(message))
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = print_plainly
        yield
