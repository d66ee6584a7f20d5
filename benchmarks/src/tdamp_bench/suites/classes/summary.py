"""Means over seeds of everything measured, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.record import Verdict
from ...figures.paired import gap
from .contenders import LABELS

NLL_LIMIT = 0.060
ECE_LIMIT = 0.004
TIME_LIMIT = 0.2
"""Of an ensemble's training time."""
RIVALS = {"adamw": "", "ensemble": " (stretch)", "ensemble_adamw": " (stretch)"}
"""Whom tdamp, one network, is judged against; ensembles have five."""


def summary(parts: dict[str, Any], seeds: Sequence[int]) -> dict[str, Any]:
    """Of each method that has run with all seeds: means over them, and the standard error of the test scores."""
    by_method = {}
    for method in LABELS:
        runs = [run for part in _of(parts, seeds) for name, run in part["methods"].items() if name == method]
        if len(runs) == len(seeds):
            by_method[method] = {"mean": mean(runs), "standard_error": _standard_error([run["test"] for run in runs])}
    return {"seeds": list(seeds), "methods": by_method}


def _of(parts: dict[str, Any], seeds: Sequence[int]) -> Iterable[dict[str, Any]]:
    return [part for part in parts.values() if part.get("seed") in seeds and "methods" in part]


def mean(values: Sequence[Any]) -> Any:
    """Entry by entry of dictionaries and lists alike; what is no number is left out, None counts as nothing."""
    first = values[0]
    if isinstance(first, dict):
        means = {key: mean([value[key] for value in values]) for key in first}
        return {key: value for key, value in means.items() if value is not None}
    if isinstance(first, list):
        return [mean(entries) for entries in zip(*values, strict=True)]
    numbers = [value for value in values if isinstance(value, (int, float))]
    return float(np.mean(numbers)) if numbers else None


def _standard_error(tests: Sequence[dict[str, Any]]) -> dict[str, float]:
    numbers = {key: [test[key] for test in tests] for key, value in tests[0].items() if isinstance(value, float)}
    if len(tests) < 2:
        return {}
    return {key: float(np.std(values, ddof=1) / np.sqrt(len(values))) for key, values in numbers.items()}


def verdicts(parts: dict[str, Any], summarised: dict[str, Any]) -> list[Verdict]:
    """NLL and ECE of tdamp, with the preset and tuned; and beside AdamW and the ensembles, seed by seed."""
    methods, judged = summarised["methods"], []
    for name in (name for name in ("tdamp", "tdamp_tuned") if name in methods):
        judged += _limits(LABELS[name], methods[name]["mean"])
        for rival in (rival for rival in RIVALS if rival in methods):
            judged += _against(parts, summarised["seeds"], name, rival)
            judged += _time(methods, name, rival) if rival.startswith("ensemble") else []
    return judged


def _limits(label: str, ours: dict[str, Any]) -> list[Verdict]:
    return [
        Verdict(f"{label}: MNIST NLL", ours["test"]["nll"], "<=", NLL_LIMIT),
        Verdict(f"{label}: MNIST ECE", ours["test"]["ece"], "<=", ECE_LIMIT),
    ]


def _against(parts: dict[str, Any], seeds: Sequence[int], name: str, rival: str) -> list[Verdict]:
    """Test error, NLL and ECE below a rival's."""
    ours, theirs = (_tests(parts, seeds, method) for method in (name, rival))
    return [
        gap([test[key] for test in ours], [test[key] for test in theirs]).verdict(
            f"{LABELS[name]}: MNIST {title} is below that of the {LABELS[rival]}{RIVALS[rival]}"
        )
        for key, title in (("error", "error"), ("nll", "NLL"), ("ece", "ECE"))
    ]


def _tests(parts: dict[str, Any], seeds: Sequence[int], method: str) -> list[dict[str, Any]]:
    """Test scores of a method, in the order of the seeds."""
    runs = {part["seed"]: part["methods"][method] for part in _of(parts, seeds) if method in part["methods"]}
    return [runs[seed]["test"] for seed in seeds]


def _time(methods: dict[str, Any], name: str, rival: str) -> list[Verdict]:
    ours, theirs = (methods[method]["mean"]["seconds"]["processor"] for method in (name, rival))
    claim = f"{LABELS[name]}: training time, processor, over that of the {LABELS[rival]} (stretch)"
    return [Verdict(claim, ours / theirs, "<=", TIME_LIMIT)]
