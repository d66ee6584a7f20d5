"""What a benchmark leaves behind: verdicts, versions, the machine, and the JSON file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = (
    "tdamp", "jax", "jaxlib", "numpy", "scipy", "scikit-learn", "optax", "torch", "pytagi", "laplace-torch", "lightgbm",
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """A claim with the number that decides it: `value` must be `sense` `limit`.

    `tied`: it does not hold, but neither does its opposite; the difference is within its error.
    """

    claim: str
    value: float
    sense: str
    limit: float
    tied: bool = False

    @property
    def met(self) -> bool:
        """Whether the claim holds; never for a NaN."""
        return {
            "<=": self.value <= self.limit,
            "<": self.value < self.limit,
            ">=": self.value >= self.limit,
        }[self.sense]

    def to_dict(self) -> dict[str, Any]:
        """For the JSON file."""
        return asdict(self) | {"met": bool(self.met)}


def surroundings() -> dict[str, Any]:
    """Versions and hardware, without names or paths of the machine."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def version(name: str) -> str | None:
    """Installed version of a distribution, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def cpu_name() -> str:
    """The processor's model name where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def part(body: dict[str, Any], verdicts: Iterable[Verdict], where: dict[str, Any]) -> dict[str, Any]:
    """One part of a report: what was run where, the numbers, the verdicts."""
    return {"surroundings": where} | body | {"verdicts": [verdict.to_dict() for verdict in verdicts]}


def save(path: Path, name: str, parts: dict[str, Any]) -> dict[str, Any]:
    """Write `parts` into the JSON file, beside the parts of earlier runs already there; returns the whole."""
    known = json.loads(path.read_text())["parts"] if path.exists() else {}
    report = {"benchmark": name, "parts": known | _plain(parts)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    return report


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (float, np.floating)):
        if np.isfinite(value):
            return float(f"{float(value):.6g}")
        return None if np.isnan(value) else str(float(value))  # JSON has neither
    if isinstance(value, np.integer):
        return int(value)
    return value if value is None or isinstance(value, (str, bool, int)) else str(value)
