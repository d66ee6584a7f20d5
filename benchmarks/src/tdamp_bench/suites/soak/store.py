"""What a soak has done so far: a file of JSON lines, the plan first, then one for each problem and each stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .plan import Plan


class Store:
    """Lines that are there are not run again. A last line that was cut off by the end of the process is dropped."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.lines = path, []
        head = {"benchmark": "soak", "plan": str(plan)}
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(head) + "\n")
            return
        first, *rest = path.read_text().splitlines(keepends=True)
        if json.loads(first) != head:
            raise ValueError(f"{path} holds problems of another plan: choose another --out")
        self.lines = [json.loads(line) for line in rest if line.endswith("\n")]
        if rest and not rest[-1].endswith("\n"):
            path.write_text("".join([first, *rest[:-1]]))

    def add(self, line: dict[str, Any]) -> None:
        """Write it down."""
        text = json.dumps(line, default=_plain, separators=(",", ":"))
        self.lines.append(json.loads(text))
        with self.path.open("a") as file:
            file.write(text + "\n")

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Those that are done."""
        return [line for line in self.lines if line["kind"] == "problem"]

    @property
    def streams(self) -> list[dict[str, Any]]:
        """Those that are done."""
        return [line for line in self.lines if line["kind"] == "stream"]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else list(value)
