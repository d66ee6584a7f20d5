"""Means over seeds of everything measured, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..record import Verdict
from .contenders import LABELS

NLL_LIMIT = 0.060
ECE_LIMIT = 0.004
TIME_LIMIT = 0.2
"""Of the ensemble's training time."""


def summary(parts: dict[str, Any], seeds: Sequence[int]) -> dict[str, Any]:
    """Of each method that has run with all seeds: means over them, and the standard error of the test scores."""
    found = {}
    for method in LABELS:
        runs = [run for part in _of(parts, seeds) for name, run in part["methods"].items() if name == method]
        if len(runs) == len(seeds):
            found[method] = {"mean": mean(runs), "standard_error": _standard_error([run["test"] for run in runs])}
    return {"seeds": list(seeds), "methods": found}


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


def verdicts(found: dict[str, Any]) -> list[Verdict]:
    """NLL and ECE of tdamp, with the preset and tuned, and beside the ensemble."""
    methods = found["methods"]
    theirs = methods["ensemble"]["mean"] if "ensemble" in methods else None
    said = []
    for name in ("tdamp", "tdamp_tuned"):
        if name in methods:
            said += _verdicts(LABELS[name], methods[name]["mean"], theirs)
    return said


def _verdicts(label: str, ours: dict[str, Any], theirs: dict[str, Any] | None) -> list[Verdict]:
    said = [
        Verdict(f"{label}: MNIST NLL", ours["test"]["nll"], "<=", NLL_LIMIT),
        Verdict(f"{label}: MNIST ECE", ours["test"]["ece"], "<=", ECE_LIMIT),
    ]
    if theirs is not None:
        for key, name in (("error", "error"), ("nll", "NLL"), ("ece", "ECE")):
            claim = f"{label}: MNIST {name}, against the ensemble's (stretch)"
            said.append(Verdict(claim, ours["test"][key], "<", theirs["test"][key]))
        share = ours["seconds"]["processor"] / theirs["seconds"]["processor"]
        said.append(
            Verdict(f"{label}: training time, processor, over the ensemble's (stretch)", share, "<=", TIME_LIMIT)
        )
    return said
