"""A file of JSON lines that a long run is kept in: a head that says what is run, then a line for each part done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


class Lines:
    """Lines that are there are not made again. A last line that was cut off by the end of the process is dropped."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self.path: Path = path
        self.lines: list[dict[str, Any]] = []
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(head) + "\n")
            return
        first, *rest = path.read_text().splitlines(keepends=True)
        if json.loads(first) != head:
            raise ValueError(f"{path} holds runs of another plan: choose another --out")
        self.lines = [json.loads(line) for line in rest if line.endswith("\n")]
        if rest and not rest[-1].endswith("\n"):
            path.write_text("".join([first, *rest[:-1]]))

    def add(self, line: dict[str, Any]) -> None:
        """Write it down."""
        text = json.dumps(line, default=_plain, separators=(",", ":"))
        self.lines.append(json.loads(text))
        with self.path.open("a") as file:
            file.write(text + "\n")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else list(value)
