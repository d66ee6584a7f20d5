"""What the trials say together: losses without a warning, warnings without a loss, and how small "auto" goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.record import Verdict

Line = dict[str, Any]
MEAN_LOST, MOST_LOST = 0.01, 0.05
"""R2 or accuracy that pruning may cost on average, and in a single trial if the fit does not warn."""
FALSE_WARNINGS = 0.1
"""Of all trials, those that may warn of a loss below `MEAN_LOST`."""
AUTO_SHARE = 0.5
"""Of the groups, so many may be left by keep="auto" on average."""


def silent(line: Line) -> bool:
    """Whether more than `MOST_LOST` was lost and nothing was said."""
    return line["pruned"]["lost"] > MOST_LOST and not line["pruned"]["warned"]


def false_warning(line: Line) -> bool:
    """Whether the fit warned, and less than `MEAN_LOST` was lost."""
    return line["pruned"]["warned"] and line["pruned"]["lost"] < MEAN_LOST


def auto_errors(line: Line) -> float:
    """Standard errors by which the log score of keep="auto" is below that of all units; 0 where nothing was lost."""
    auto = line["auto"]
    return max(auto["lost_log_score"], 0.0) / max(auto["lost_log_score_se"], float(np.finfo(float).tiny))


def share(fit: dict[str, Any]) -> float:
    """Of the groups, those that are left."""
    return float(fit["groups"] / fit["total"])


def of_table(lines: list[Line]) -> dict[str, Any]:
    """Means of the seeds of a table, and counts."""
    quality = {name: float(np.mean([line[name]["quality"] for line in lines])) for name in ("full", "pruned", "auto")}
    return {
        "table": lines[0]["table"],
        "trials": len(lines),
        **quality,
        "lost": float(np.mean([line["pruned"]["lost"] for line in lines])),
        "most_lost": max(line["pruned"]["lost"] for line in lines),
        "warned": sum(line["pruned"]["warned"] for line in lines),
        "silent": sum(map(silent, lines)),
        "false_warnings": sum(map(false_warning, lines)),
        "auto_share": float(np.mean([share(line["auto"]) for line in lines])),
        "auto_lost": float(np.mean([line["auto"]["lost"] for line in lines])),
        "auto_errors": pooled_errors(lines),
    }


def pooled_errors(lines: list[Line]) -> float:
    """The same as `auto_errors`, of the mean of several trials."""
    mean = np.mean([line["auto"]["lost_log_score"] for line in lines])
    error = np.sqrt(np.sum([line["auto"]["lost_log_score_se"] ** 2 for line in lines])) / len(lines)
    return float(max(mean, 0.0) / max(error, np.finfo(float).tiny))


def tables(lines: list[Line]) -> list[dict[str, Any]]:
    """Of each table, in the order in which they were run."""
    names = dict.fromkeys(line["table"] for line in lines)
    return [of_table([line for line in lines if line["table"] == name]) for name in names]


def verdicts(lines: list[Line]) -> list[Verdict]:
    """The claims of the documentation."""
    lost = [line["pruned"]["lost"] for line in lines]
    by_table = tables(lines)
    worse = sum(auto_errors(line) > 1 for line in lines)
    return [
        Verdict("Lost by keep 0.3, mean of all trials", float(np.mean(lost)), "<=", MEAN_LOST),
        Verdict(f"Losses above {MOST_LOST} without a warning", sum(map(silent, lines)), "<=", 0),
        Verdict("Share of warnings that were false", sum(map(false_warning, lines)) / len(lines), "<=", FALSE_WARNINGS),
        Verdict('Tables on which keep="auto" loses more than a standard error of log score',
                sum(row["auto_errors"] > 1 for row in by_table), "<=", 0),
        Verdict('Trials in which keep="auto" loses more than a standard error of log score', worse, "<=", 0),
        Verdict('Share of the groups that keep="auto" leaves', float(np.mean([share(line["auto"]) for line in lines])),
                "<=", AUTO_SHARE),
    ]  # fmt: skip
