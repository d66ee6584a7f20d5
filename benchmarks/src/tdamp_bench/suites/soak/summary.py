"""What the problems and streams say together."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...core.record import Verdict
from .places import CLIPS

Lines = list[dict[str, Any]]


def of_problems(problems: Lines) -> dict[str, Any]:
    """Counts of faults, outcomes and tricks, and how often each clip acted."""
    return {
        "problems": len(problems),
        "with_faults": sum(bool(line["faults"]) for line in problems),
        "faults": [
            {key: line[key] for key in ("configuration", "problem", "tricks", "faults")}
            for line in problems
            if line["faults"]
        ],
        "outcomes": dict(Counter(line["outcome"] for line in problems)),
        "tricks": dict(Counter(trick for line in problems for trick in line["tricks"])),
        "warnings": dict(Counter(name for line in problems for name in line["warnings"])),
        "clips": {name: _of_clip(problems, i) for i, name in enumerate(CLIPS)},
        "seconds": float(sum(line["seconds"] for line in problems)),
    }


def shares(problems: Lines, clip: int) -> np.ndarray:
    """Of the numbers that a clip looked at, the share it changed: one for each problem where it looked at any."""
    looked = [line for line in problems if "clips" in line and line["places"][clip]]
    return np.array([line["clips"][clip] / line["places"][clip] for line in looked])


def _of_clip(problems: Lines, clip: int) -> dict[str, Any]:
    """`acted` is the share of problems with a count above zero; medians over all, and over those, and the most."""
    share = shares(problems, clip)
    hit = share[share > 0]
    return {
        "problems": len(share),
        "acted": float(np.mean(share > 0)) if len(share) else 0.0,
        "median_share": float(np.median(share)) if len(share) else 0.0,
        "median_share_where_acted": float(np.median(hit)) if len(hit) else 0.0,
        "most": float(share.max()) if len(share) else 0.0,
    }


def of_stream(line: dict[str, Any]) -> dict[str, Any]:
    """The first and the last snapshot, the extremes between them, and what clean batches did afterwards."""
    snapshots = line["looks"]
    summary = {key: line[key] for key in ("batches", "faults", "outcomes", "fresh_log_score", "fresh_score")}
    summary |= {
        "looks": len(snapshots),
        "first": snapshots[0],
        "last": snapshots[-1],
        "after_clean": line["after_clean"],
    }
    summary["least_log_score"] = min(one["log_score"] for one in snapshots)
    summary["least_doubt"] = min(one["doubt"] for one in snapshots)
    if "least_std" in snapshots[0]:
        summary["least_std"] = min(one["least_std"] for one in snapshots)
    return summary


def verdicts(problems: dict[str, Any], streams: dict[str, Any]) -> list[Verdict]:
    """No fault anywhere."""
    return [
        Verdict(f"Faults in {problems['problems']} problems", problems["with_faults"], "<=", 0),
        *(
            Verdict(f"Faults in {s['batches']} batches: {name}", len(s["faults"]), "<=", 0)
            for name, s in streams.items()
        ),
        *(Verdict(f"Batches that diverged: {name}", s["outcomes"]["DIVERGED"], "<=", 0) for name, s in streams.items()),
    ]
