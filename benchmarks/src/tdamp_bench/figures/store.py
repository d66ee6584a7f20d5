"""Finished runs in a file of JSON lines: what is in it is never run again.

A line holds the runs of one call that differ by their seed alone. It is appended by a single write, so that two
processes may fill one file; a line that a killed process left half-written is ignored, and cut off before the next.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.jobs import Config, Run
from .tasks import Role


def canonical(config: Config) -> str:
    """The configuration as text, the same whatever the order of its entries."""
    return json.dumps(config, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Key:
    """All that tells runs apart; `config` is `canonical`."""

    data: str
    method: str
    config: str
    keep: float
    seed: int
    epochs: int
    role: Role
    quick: bool = False


@dataclass(frozen=True)
class Done:
    """A finished run: loss by epoch, or the last one alone; `seconds` is its share of the call that made it."""

    key: Key
    loss: list[float]
    units: int
    seconds: float
    extra: dict[str, list[float]] = field(default_factory=dict)
    note: str = ""

    @classmethod
    def of(cls, key: Key, run: Run, seconds: float, whole: bool, extra: Iterable[str] = ()) -> Done:
        """What is kept of a run: all epochs or the last, and the named further lists; rounded."""
        kept = run.loss if whole else run.loss[-1:]
        lists = {name: [_rounded(value) for value in run.extra[name]] for name in extra if name in run.extra}
        return cls(key, [_rounded(value) for value in kept], int(run.units), float(f"{seconds:.3g}"), lists, run.note)

    @property
    def whole(self) -> bool:
        """Whether the losses of all epochs are there."""
        return len(self.loss) == self.key.epochs


class Store:
    """The finished runs of a figure, by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[Key, Done] = {}
        self.reload()

    def reload(self) -> None:
        """Read the file again: another process may have added to it."""
        self.done = {}
        if self.path.exists():
            for line in self.path.read_bytes().split(b"\n")[:-1]:
                self.done |= {run.key: run for run in _parsed(line)}

    def __contains__(self, key: Key) -> bool:
        return key in self.done

    def all_seeds(self, key: Key) -> list[Done]:
        """The runs that differ from `key` at most by their seed, in the order of seeds."""
        seeds = sorted({known.seed for known in self.done})
        return [self.done[same] for seed in seeds if (same := replace(key, seed=seed)) in self]

    def append(self, runs: Iterable[Done]) -> None:
        """Add runs to the file and wait until they are written."""
        groups: dict[tuple, list[Done]] = {}
        for run in runs:
            groups.setdefault((replace(run.key, seed=0), tuple(run.extra)), []).append(run)
        text = "".join(_line(group) for group in groups.values())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _cut_half_line(self.path)
        with self.path.open("ab", buffering=0) as file:
            file.write(text.encode())
        self.done |= {run.key: run for group in groups.values() for run in group}

    def adopt(self, keys: Iterable[Key], other: Store, whole: bool) -> None:
        """Copy what another figure has already run; test runs of which all epochs are wanted only if it has those."""
        fit = []
        for key in keys:
            run = other.done.get(key)
            if run is None or key in self:
                continue
            if whole and key.role == "test":
                if run.whole:
                    fit.append(run)
            else:
                fit.append(replace(run, loss=run.loss[-1:], extra={}))
        if fit:
            self.append(fit)


def _line(runs: list[Done]) -> str:
    """Runs that differ by their seed, as one line."""
    first = runs[0]
    labels: dict[str, Any] = asdict(first.key) | {"config": json.loads(first.key.config)}
    labels["seed"] = [run.key.seed for run in runs]
    body: dict[str, Any] = {
        "loss": [[_legal(value) for value in run.loss] for run in runs],
        "units": [run.units for run in runs],
        "seconds": [run.seconds for run in runs],
    }
    if first.extra:
        body["extra"] = {name: [[_legal(v) for v in run.extra[name]] for run in runs] for name in first.extra}
    if any(run.note for run in runs):
        body["note"] = [run.note for run in runs]
    return json.dumps(labels | body, separators=(",", ":"), allow_nan=False) + "\n"


def _parsed(line: bytes) -> Iterator[Done]:
    """The runs of a line; none where it is broken."""
    try:
        entry = json.loads(line)
        names = ("data", "method", "keep", "epochs", "role", "quick")
        labels = {name: entry[name] for name in names} | {"config": canonical(entry["config"])}
        for i, seed in enumerate(entry["seed"]):
            yield Done(
                Key(seed=seed, **labels),
                [float(value) for value in entry["loss"][i]],
                entry["units"][i],
                entry["seconds"][i],
                {name: [float(value) for value in lists[i]] for name, lists in entry.get("extra", {}).items()},
                entry["note"][i] if "note" in entry else "",
            )
    except (ValueError, KeyError, TypeError, IndexError):
        return


def _cut_half_line(path: Path) -> None:
    content = path.read_bytes() if path.exists() else b""
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _rounded(value: float) -> float:
    """Six significant digits; what is not a number counts as infinite."""
    value = float(value)
    return float(f"{value:.6g}") if math.isfinite(value) else math.inf


def _legal(value: float) -> float | str:
    """JSON has no infinity; Python reads this word as one."""
    return value if math.isfinite(value) else "inf"
