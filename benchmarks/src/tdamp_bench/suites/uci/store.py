"""The file of results: what is in it is not run again.

runs[set][method] = {"surroundings": ..., "splits": {"0": scores, ...}}. It is written anew, whole or not at all, after
every split; what another process has added meanwhile is kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tdamp.io.atomic import PART, rename_whole

from ...figures.publish import write_json
from .scores import Scores

Runs = dict[str, dict[str, dict[str, Any]]]


class Store:
    """Finished splits by set and method. A file of a quick run takes no full runs, and the other way round."""

    def __init__(self, path: Path, quick: bool) -> None:
        self.path, self.quick = path, quick
        self.runs: Runs = {}
        self.reload()

    def reload(self) -> None:
        """Read the file."""
        if not self.path.exists():
            return
        known = json.loads(self.path.read_text())
        if known.get("benchmark") != "uci" or known["quick"] != self.quick:
            kind = "quick" if self.quick else "full"
            raise ValueError(f"{self.path} holds other results than those of a {kind} run: choose another --out")
        self.runs = known["runs"]

    def splits(self, name: str, method: str) -> dict[str, Scores]:
        """The finished ones."""
        return self.runs.get(name, {}).get(method, {}).get("splits", {})

    def add(self, name: str, method: str, split: int, scores: Scores, surroundings: dict[str, Any]) -> None:
        """Put one split into the file, in place of an earlier run of it."""
        self.reload()
        entry = self.runs.setdefault(name, {}).setdefault(method, {"splits": {}})
        entry["surroundings"] = surroundings
        entry["splits"][str(split)] = scores
        entry["splits"] = dict(sorted(entry["splits"].items(), key=lambda item: int(item[0])))
        self.write({})

    def write(self, rest: dict[str, Any]) -> None:
        """The file: the runs, and what was made of them."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(self.path.name + PART)
        write_json(part, {"benchmark": "uci", "quick": self.quick} | rest | {"runs": self.runs})
        rename_whole(part, self.path)
        self.reload()
