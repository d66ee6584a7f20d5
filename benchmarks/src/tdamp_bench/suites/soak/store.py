"""What a soak has done so far: a file of JSON lines, the plan first, then one for each problem and each stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.lines import Lines
from .plan import Plan


class Store(Lines):
    """The lines of a plan."""

    def __init__(self, path: Path, plan: Plan) -> None:
        super().__init__(path, {"benchmark": "soak", "plan": str(plan)})

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Those that are done."""
        return [line for line in self.lines if line["kind"] == "problem"]

    @property
    def streams(self) -> list[dict[str, Any]]:
        """Those that are done."""
        return [line for line in self.lines if line["kind"] == "stream"]
